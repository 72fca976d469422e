package numa

import (
	"runtime"
	"slices"
	"testing"
)

func TestCPUList(t *testing.T) {
	cases := []struct {
		text string
		want []int
		bad  bool
	}{
		{"0\n", []int{0}, false},
		{"0-3,8,10-11\n", []int{0, 1, 2, 3, 8, 10, 11}, false},
		{"", nil, false},
		{"3-1", nil, true},
		{"a", nil, true},
		{"0,,1", nil, true},
		{"0-99999999", nil, true},
	}
	for _, c := range cases {
		got, err := cpuList(c.text)
		if (err != nil) != c.bad || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v; want %v", c.text, got, err, c.want)
		}
	}
}

func TestBindToAnExistingAndToNoNode(t *testing.T) {
	nodes := Nodes()
	if len(nodes) == 0 {
		t.Skip("the system lists no NUMA nodes")
	}
	done := make(chan struct{})
	go func() { // the thread is given up with its binding
		defer close(done)
		runtime.LockOSThread()
		if err := BindThread(nodes[0]); err != nil {
			t.Errorf("first node: %v", err)
		}
		if restore, err := PreferMemory(nodes[0]); err != nil {
			t.Logf("the system refuses memory policies: %v", err)
		} else {
			restore()
		}
		if BindThread(4000) == nil {
			t.Error("node 4000 was accepted")
		}
	}()
	<-done
}
