package supervisor

// System calls that package syscall does not name, see syscalls(2).
const (
	sysMemfdCreate  = 279
	sysCloseRange   = 436
	sysSeccomp      = 277
	sysSchedGetattr = 275
)

// abis are those of arm64 and of 32-bit arm.
var abis = [...]abi{
	{0xC00000B7, [5]uint32{118, 119, 122, 274, 261}, 140, 30, [4]uint32{217, 218, 219, 425}},
	{0x40000028, [5]uint32{154, 156, 241, 380, 369}, 97, 314, [4]uint32{309, 310, 311, 425}},
}
