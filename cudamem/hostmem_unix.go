//go:build unix

package cudamem

import "golang.org/x/sys/unix"

func mapPages(pages int) ([]byte, error) {
	return unix.Mmap(-1, 0, pages, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func lockPages(memory []byte) error { return unix.Mlock(memory) }

func unmapPages(memory []byte) error { return unix.Munmap(memory) }
