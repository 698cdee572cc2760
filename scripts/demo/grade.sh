# shellcheck shell=bash
# Judges the submissions of a problem package, each compiled once and run on its tests in one
# container. What counts is CPU time, so that a busy machine changes no verdict.
: "${enqueue:?}" "${work:?}" # set by demo.sh

grade_all() {
	local began=$EPOCHREALTIME code=0 kept broken
	printf '\nThe submissions of a problem package, on four tests each\n'
	"$enqueue" problem check grading >"$work/grading" 2>"$work/stderr" || code=$?
	sed -n '3,$s/^/  /p' "$work/grading"
	kept=$(grep -c '^ok ' "$work/grading" || true)
	broken=$((10 - kept))
	printf '  %d submissions judged in %s s\n' "$kept" "$(since "$began")"
	total=$((total + 10)) right=$((right + kept))
	if ((code != 0 || broken != 0)); then
		echo "      wanted 10 submissions as promised and exit code 0, got $kept and $code; standard error:"
		sed 's/^/      /' "$work/stderr"
	fi
}
