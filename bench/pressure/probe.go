package pressure

import (
	"os"
	"path/filepath"

	"pinscope/cudamem"
)

// bufferBytes holds the largest file read: /proc/vmstat has some 5,000 bytes, and
// /proc/self/status and memory.stat of version 1 fewer. What is beyond it is lost.
const bufferBytes = 32 << 10

// probe reads all figures from files that are opened once: reading one again from
// its start gives what is true then. It belongs to one goroutine.
type probe struct {
	sources []source
	buffer  []byte
	group   string // of the group's figures
}

type source struct {
	file  *os.File
	parse func(*Sample, []byte)
}

// newProbe opens what there is of the files. A file that is missing leaves its
// figures unknown.
func newProbe(root Root) *probe {
	p := &probe{buffer: make([]byte, bufferBytes)}
	p.open(root.path("proc/self/status"), processStatus)
	p.open(root.path("proc/self/stat"), processStat)
	p.open(root.path("proc/meminfo"), meminfo)
	p.open(root.path("proc/vmstat"), vmstat)
	p.open(root.path("proc/pressure/memory"), stalls{MemorySomeStall, MemoryFullStall, MemorySomeAvg10, MemoryFullAvg10}.psi)
	p.open(root.path("proc/pressure/io"), stalls{IOSomeStall, IOFullStall, none, none}.psi)
	p.open(root.path("proc/pressure/cpu"), stalls{CPUSomeStall, none, none, none}.psi)
	p.openGroup(root)
	return p
}

// openGroup opens the control group that limits the process, else its own.
func (p *probe) openGroup(root Root) {
	if g := ReadLimits(root).binding; g != nil {
		p.group = g.name
		p.open(filepath.Join(g.folder, g.used()), groupUsed)
		p.open(filepath.Join(g.folder, g.max()), groupMax)
		p.open(filepath.Join(g.folder, "memory.high"), groupHigh)
		p.open(filepath.Join(g.folder, "memory.stat"), groupStat)
		p.open(filepath.Join(g.folder, g.pick("memory.oom_control", "memory.events")), groupEvents)
		if g.v1 {
			p.open(filepath.Join(g.folder, "memory.failcnt"), groupFailures)
		}
	}
	// Only version 2 has pressure of groups. The top of all groups would show the
	// whole system once more; it is the one without a type.
	if chain := root.unified(); len(chain) > 0 && chain[0].read("cgroup.type") != nil {
		p.open(filepath.Join(chain[0].folder, "memory.pressure"), stalls{GroupSomeStall, GroupFullStall, none, none}.psi)
	}
}

func (p *probe) open(path string, parse func(*Sample, []byte)) {
	if file, err := os.Open(path); err == nil {
		p.sources = append(p.sources, source{file, parse})
	}
}

// read fills a sample, At excepted. It allocates nothing, as long as the files
// can be read.
func (p *probe) read(s *Sample) {
	s.known = 0
	s.set(Pinned, cudamem.ReadLedger().PinnedBytes, true)
	for i := range p.sources {
		// At its end a file gives io.EOF; after another error what was read holds.
		n, _ := p.sources[i].file.ReadAt(p.buffer, 0)
		p.sources[i].parse(s, p.buffer[:n])
	}
	setAvailable(s)
}

// setAvailable works out Available from what was read of system and group.
func setAvailable(s *Sample) {
	system, ok := s.Int(SystemAvailable)
	s.set(Available, system, ok)
	for _, f := range []Figure{GroupMax, GroupHigh} {
		n, ok := s.Int(f)
		if !ok {
			continue
		}
		if left := headroom(s, n); left != nil {
			if before, known := s.Int(Available); !known || *left < before {
				s.set(Available, *left, true)
			}
		}
	}
}

func (p *probe) close() {
	for i := range p.sources {
		_ = p.sources[i].file.Close() // opened for reading: nothing is lost
	}
	p.sources = nil
}
