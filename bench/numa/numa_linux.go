package numa

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

const nodeRoot = "/sys/devices/system/node"

// Nodes lists the node numbers that are online; nil where the system does not tell.
func Nodes() []int {
	text, err := os.ReadFile(filepath.Join(nodeRoot, "online"))
	if err != nil {
		return nil
	}
	nodes, err := cpuList(string(text))
	if err != nil {
		return nil
	}
	return nodes
}

// CPUs lists the processors of a node.
func CPUs(node int) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(nodeRoot, fmt.Sprintf("node%d", node), "cpulist"))
	if err != nil {
		return nil, fmt.Errorf("numa: node %d: %w", node, err)
	}
	return cpuList(string(text))
}

// BindThread keeps the calling thread on the processors of a node, as far as the
// process may use them. The caller has locked its goroutine to the thread and
// never unlocks it, so that the binding ends with the thread.
func BindThread(node int) error {
	cpus, err := CPUs(node)
	if err != nil {
		return err
	}
	var allowed, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return fmt.Errorf("numa: read the thread's processors: %w", err)
	}
	for _, cpu := range cpus {
		if allowed.IsSet(cpu) {
			wanted.Set(cpu)
		}
	}
	if wanted.Count() == 0 {
		return fmt.Errorf("numa: the process may use none of node %d's processors", node)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return fmt.Errorf("numa: bind the thread to node %d: %w", node, err)
	}
	return nil
}

// Memory policies of set_mempolicy(2).
const (
	policyDefault   = 0
	policyPreferred = 1
	maxNodes        = 1024
)

// PreferMemory makes pages that the calling thread touches first come from a
// node, while it has any, until the returned function is called on that thread.
func PreferMemory(node int) (restore func(), err error) {
	if node < 0 || node >= maxNodes {
		return nil, errors.New("numa: no such node")
	}
	var mask [maxNodes / 64]uint64
	mask[node/64] = 1 << (node % 64)
	if err := setPolicy(policyPreferred, &mask[0], maxNodes); err != nil {
		return nil, fmt.Errorf("numa: prefer memory of node %d: %w", node, err)
	}
	return func() { _ = setPolicy(policyDefault, nil, 0) }, nil
}

func setPolicy(policy int, mask *uint64, bits uintptr) error {
	_, _, errno := unix.Syscall(unix.SYS_SET_MEMPOLICY, uintptr(policy), uintptr(unsafe.Pointer(mask)), bits)
	if errno != 0 {
		return errno
	}
	return nil
}
