"""memory/backends"""
