print("impossible")
