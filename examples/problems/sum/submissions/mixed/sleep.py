# Uses no CPU time: only the wall clock can end it, whatever the limit. So it bounds no time limit, as those
# in time_limit_exceeded do.
# @EXPECTED_RESULTS@: TIMELIMIT
import time

time.sleep(600)
