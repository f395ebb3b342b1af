"""The first run: says hello, leaves one file behind."""
import os
import platform

print("Hello from", platform.python_implementation(), platform.python_version())
print("I am uid", os.getuid(), "in", os.getcwd(), "and see", len(os.listdir("/")), "names in /")
with open("greeting.txt", "w", encoding="utf-8") as f:
    f.write("This file was collected, hashed and listed in the MANIFEST.\n")
