package cudamem

import "golang.org/x/sys/unix"

// forgoHugePages asks for ordinary pages. A kernel without huge pages refuses,
// and gives what was asked for anyway.
func forgoHugePages(memory []byte) { _ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) }
