package supervisor

// System calls that package syscall does not name, see syscalls(2).
const (
	sysMemfdCreate  = 319
	sysCloseRange   = 436
	sysSeccomp      = 317
	sysSchedGetattr = 315
)

// abis are those of x86-64 (and x32, which differs by one bit) and i386.
var abis = [...]abi{
	{0xC000003E, [5]uint32{142, 144, 203, 314, 302}, 141, 251, [4]uint32{248, 249, 250, 425}},
	{0x40000003, [5]uint32{154, 156, 241, 351, 340}, 97, 289, [4]uint32{286, 287, 288, 425}},
}
