"""From the text of a cell to a plan, and from Python function objects to graphs.

`pipe` reads the operator, `cell` makes the plan, `functions` finds a function's text, `lower` turns it into a
graph, `build` puts stages together. Python itself is the grammar: nothing here parses anything but `|>`.
"""
