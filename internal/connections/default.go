package connections

// bytesEach is more than an idle connection takes.
const bytesEach = 64 << 10

// Default returns the number of connections for which a process has room: three quarters of its limit on open files, so that the
// rest is left to its store and its own connections, and one for each 64 KiB of its limit on memory in bytes, if that is not 0. It is
// 0 without a limit.
func Default(memory int64) int {
	most := openFiles() / 4 * 3
	if byMemory := memory / bytesEach; memory > 0 && (most == 0 || byMemory < most) {
		most = byMemory
	}
	return int(most)
}
