# Writes all guesses without listening to any reply.
for guess in range(1, 101):
    print(guess)
