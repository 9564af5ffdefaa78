"""Pipelines that run many times: functions, bodies of loops, ordinary code."""
