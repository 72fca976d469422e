package cudamem

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func mapPages(pages int) ([]byte, error) {
	address, err := windows.VirtualAlloc(0, uintptr(pages), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	// Read through a pointer to the address: the memory is not the collector's,
	// so the uintptr is as good as a pointer, which vet cannot know.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), pages), nil
}

func lockPages(memory []byte) error {
	return windows.VirtualLock(uintptr(unsafe.Pointer(&memory[0])), uintptr(len(memory)))
}

func unmapPages(memory []byte) error {
	return windows.VirtualFree(uintptr(unsafe.Pointer(&memory[0])), 0, windows.MEM_RELEASE)
}
