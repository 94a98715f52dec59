"""llm/providers"""
