#!/bin/sh
# Runs as root inside a new runtime image when its packages are installed,
# whichever way the image is built: makes it ready for an unprivileged user
# on a read-only root, and small.
set -eu

compile_python() {
	# A read-only root cannot cache byte code, so all of it is made now.
	for lib in /usr/lib/python3 /usr/lib/python3.[0-9]*; do
		[ ! -d "$lib" ] || python3 -m compileall -q -j 0 -x 'lib2to3/tests|/test/' "$lib" || true
	done
}

drop_privileges() {
	# no-new-privileges already makes these bits void; an image that is
	# run without it should not offer them either.
	find / -xdev -type f -perm /6000 -exec chmod a-s {} +
}

slim() {
	# What no program that runs here needs: the parts for linking new Java
	# runtimes, Go's own tests, and headers that SciPy's packages bring along.
	rm -rf /usr/lib/jvm/*/jmods /usr/include/boost /usr/share/unicode /usr/share/go-*/test
	find /usr/share/go-* -name testdata -prune -exec rm -rf {} + 2>/dev/null || true
	find /usr/share/go-* -name '*_test.go' -delete 2>/dev/null || true
	rm -f /usr/lib/*/libopenblas*.a /usr/lib/*/openblas-*/*.a /usr/lib/*/atlas/*.a
	rm -rf /usr/share/doc/* /usr/share/man/* /usr/share/info/* /usr/share/lintian/* \
		/usr/share/locale/* /var/log/* /var/cache/* /var/lib/apt/lists/* /root/.cache
	# The mirror and proxy of the machine that built the image are its own business.
	rm -f /etc/apt/apt.conf.d/99mmdebstrap
	if [ "${KEEP_APT_SOURCES:-}" = "" ]; then
		rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
	fi
	mkdir -p /var/cache/apt/archives/partial /var/log
}

compile_python
drop_privileges
slim
# A tmpfs takes the mode of the directory that it covers.
install -d -m 1777 /workspace
