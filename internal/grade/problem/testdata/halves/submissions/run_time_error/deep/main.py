from helper import f
f(0)
