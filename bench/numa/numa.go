// Package numa binds threads and memory to a NUMA node: on a machine with
// several, copies from far memory can take three times as long as from near.
//
// [Nodes] tells what there is, [BindThread] and [PreferMemory] act on the calling
// thread. Outside Linux there are no nodes and both fail.
package numa

import (
	"fmt"
	"strconv"
	"strings"
)

// cpuList reads the kernel's list format: "0-3,8,10-11".
func cpuList(text string) ([]int, error) {
	var cpus []int
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || first < 0 || last < first || last-first > 1<<16 {
			return nil, fmt.Errorf("numa: %q is not a list of numbers", text)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
