"""Replays: a fork of a conversation that a model goes on with, on recorded results of tools."""
