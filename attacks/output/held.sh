# Processes in the background that hold both streams open when the main one has ended.
(sleep 600 &)
setsid sh -c 'trap "" TERM HUP INT; exec sleep 600' &
python3 -c 'import os, time
if os.fork() == 0:
    os.setsid(); time.sleep(600)' &
wait $!
echo 'stopped: the main process ends now'
