"""commands/builtin"""
