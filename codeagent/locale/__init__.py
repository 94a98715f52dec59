"""locale"""
