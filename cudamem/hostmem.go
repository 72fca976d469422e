package cudamem

import (
	"fmt"
	"math"
	"os"
)

// MapPages maps zeroed memory of whole pages outside the Go heap: the length is
// the bytes asked for (> 0), the capacity all of the pages. Nothing is resident
// until it is touched. [UnmapPages] gives it back.
func MapPages(bytes int64) ([]byte, error) {
	pages, err := pageBytes(bytes)
	if err != nil {
		return nil, err
	}
	memory, err := mapPages(pages)
	if err != nil {
		return nil, fmt.Errorf("cudamem: map %d bytes of host memory: %w", pages, err)
	}
	return memory[:bytes:pages], nil
}

// MapSparsePages is MapPages for memory of which only a page here and there will
// be touched, and which must not become resident as a whole by way of huge pages.
func MapSparsePages(bytes int64) ([]byte, error) {
	memory, err := MapPages(bytes)
	if err == nil {
		forgoHugePages(memory[:cap(memory)])
	}
	return memory, err
}

// LockPages page-locks memory that MapPages gave, and so makes all of it
// resident. On an error, as a rule the limit on locked memory (ulimit -l), it is
// left unlocked. Unmapping it unlocks it.
func LockPages(memory []byte) error {
	if err := lockPages(memory[:cap(memory)]); err != nil {
		return fmt.Errorf("cudamem: lock %d bytes of host memory: %w", cap(memory), err)
	}
	return nil
}

// TouchPages makes memory that MapPages has just given resident, without locking
// it: it writes a zero into each page.
func TouchPages(memory []byte) {
	memory = memory[:cap(memory)]
	for at := 0; at < len(memory); at += os.Getpagesize() {
		memory[at] = 0
	}
}

// UnmapPages gives back memory that MapPages or MapSparsePages gave.
func UnmapPages(memory []byte) error {
	if err := unmapPages(memory[:cap(memory)]); err != nil {
		return fmt.Errorf("cudamem: unmap %d bytes of host memory: %w", cap(memory), err)
	}
	return nil
}

// pageBytes rounds bytes up to whole pages.
func pageBytes(bytes int64) (int, error) {
	page := int64(os.Getpagesize())
	if bytes <= 0 || bytes > math.MaxInt-page {
		return 0, fmt.Errorf("cudamem: map host memory: %d bytes is not a length above 0 that fits the address space", bytes)
	}
	return int((bytes + page - 1) / page * page), nil
}
