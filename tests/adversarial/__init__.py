"""The product under attack: what a careless program, a curious colleague and a bad day send it.

`furnishing` builds one harness with something of everything, and lists every address of the API and every page. Each module takes
one kind of attack: odd requests and forms, rights, the two-person rule, races, texts that never end, texts that are code. Every
hole that was found is a test here first.
"""
