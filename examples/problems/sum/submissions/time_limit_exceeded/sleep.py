# Uses no CPU time: only the wall clock can end it.
import time

time.sleep(600)
