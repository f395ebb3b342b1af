#!/bin/bash
# The same in bash.
echo "Hello from bash $BASH_VERSION"
echo "I am uid $(id -u) in $PWD"
echo "This file was collected, hashed and listed in the MANIFEST." >greeting.txt
