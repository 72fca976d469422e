package bench

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"pinscope/bench/numa"
	"pinscope/cudamem"
)

// numaNode is the node that workers and slots are bound to; nil: none. With
// "auto" it is the device's own, where the machine has more than one.
func numaNode(mode string, info cudamem.Info) (*int, error) {
	nodes := numa.Nodes()
	switch mode {
	case "", "off":
		return nil, nil
	case "auto":
		if len(nodes) < 2 || !slices.Contains(nodes, info.NUMANode) {
			return nil, nil
		}
		return &info.NUMANode, nil
	}
	node, err := strconv.Atoi(mode)
	if err != nil || !slices.Contains(nodes, node) {
		return nil, &InputError{Field: "numa", Value: mode, Problem: fmt.Sprintf("this machine has the nodes %v", nodes)}
	}
	return &node, nil
}

// bindWorker is what each worker's thread does first; nil without a node.
func bindWorker(node *int) func() error {
	if node == nil {
		return nil
	}
	return func() error { return numa.BindThread(*node) }
}

// onNode runs allocate with its memory coming from a node, if there is one.
func onNode(node *int, allocate func() error) error {
	if node == nil {
		return allocate()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	restore, err := numa.PreferMemory(*node)
	if err != nil {
		return err
	}
	defer restore()
	return allocate()
}
