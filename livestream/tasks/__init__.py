"""Viewer tasks: questions with their right answers in canonical terms, an expert that solves them, and the grader."""
