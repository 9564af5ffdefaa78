"""The driver: the only folder that introduces syntax, passes, codegen and runtime to each other."""
