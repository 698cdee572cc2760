# Neither reads nor writes.
