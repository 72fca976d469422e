package doctor

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pinscope/bench/pressure"
)

const gib = int64(1) << 30

func to[T any](v T) *T { return &v }

// healthy is a workstation with nothing to complain about.
func healthy() Facts {
	soft := pressure.Ceiling(8 << 20)
	return Facts{
		Limits: pressure.Limits{
			AvailableBytes: to(48 * gib), TotalBytes: to(64 * gib), RAMBytes: to(64 * gib), Source: pressure.FromSystem,
			SwapBytes: to(8 * gib), SwapUsedBytes: to(int64(0)), DevShmBytes: to(32 * gib), UsableCPUs: 16, AffinityCPUs: to(16),
			MemlockSoft: &soft, MemlockHard: &soft, HugePages: "madvise", Overcommit: "heuristic", NUMANodes: to(1),
		},
		Driver: DriverReady, Runner: RunnerReady, RunnerPath: "/usr/bin/pinscope-cuda", BuildRunner: "go build -tags cuda,headless -o pinscope-cuda .",
		GPUs: []GPU{{Name: "A", NUMANode: to(0), Generation: to(5), Width: to(16), MaxGeneration: to(5), MaxWidth: to(16), UnderLoad: true}},
		Run: Run{Workers: 4, BatchBytes: 38_535_168, SlotBytes: 38_539_264, PinnedBytes: 4 * 38_539_264, Pinned: true, NonBlocking: true,
			DedicatedStream: true, DeviceBusyShare: to(0.97), WaitShare: to(0.01)},
	}
}

func find(t *testing.T, r Report, topic string) Finding {
	t.Helper()
	all := slices.Concat(r.Findings, r.Advice)
	i := slices.IndexFunc(all, func(f Finding) bool { return f.Topic == topic })
	if i < 0 {
		t.Fatalf("no finding about %q", topic)
	}
	return all[i]
}

func TestHealthyMachine(t *testing.T) {
	r := Examine(healthy())
	for _, f := range slices.Concat(r.Findings, r.Advice) {
		if f.Level != Good {
			t.Errorf("%s", f.line())
		}
	}
	if r.Worst() != Good {
		t.Errorf("worst %v", r.Worst())
	}
}

func TestWorst(t *testing.T) {
	facts := healthy()
	facts.Driver = BadDriver // the first finding
	if worst := Examine(facts).Worst(); worst != Bad {
		t.Errorf("worst %v", worst)
	}
}

func TestFindings(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Facts)
		topic  string
		level  Level
		found  []string // parts of the line
	}{
		{"no driver", func(f *Facts) { f.Driver = NoDriver; f.DriverReason = "no NVIDIA driver found" }, "NVIDIA driver", Warn, []string{"none (no NVIDIA driver found)", "Do: sudo"}},
		{"no driver in a container", func(f *Facts) { f.Driver = NoDriver; f.Limits.Container = "docker" }, "NVIDIA driver", Warn, []string{"--gpus all"}},
		{"no driver under WSL2", func(f *Facts) { f.Driver = NoDriver; f.Limits.WSL2 = true }, "NVIDIA driver", Warn, []string{"in Windows"}},
		{"driver broken", func(f *Facts) { f.Driver = BadDriver }, "NVIDIA driver", Bad, []string{"nvidia-smi"}},
		{"driver broken, cure known", func(f *Facts) { f.Driver, f.DriverCure = BadDriver, "load it" }, "NVIDIA driver", Bad, []string{"Do: load it"}},
		{"driver without GPU", func(f *Facts) { f.Driver, f.GPUs = NoGPU, nil }, "NVIDIA driver", Warn, []string{"no GPU"}},
		{"driver unknown", func(f *Facts) { f.Driver = DriverUnknown }, "NVIDIA driver", Unknown, []string{"n/a"}},
		{"two GPUs", func(f *Facts) { f.GPUs = append(f.GPUs, f.GPUs[0]) }, "NVIDIA driver", Good, []string{"2 GPUs"}},
		{"runner missing", func(f *Facts) { f.Runner = RunnerMissing }, "CUDA runner", Bad, []string{"Do: go build -tags cuda,headless -o pinscope-cuda ."}},
		{"runner missing without a GPU", func(f *Facts) { f.Runner, f.Driver = RunnerMissing, NoDriver }, "CUDA runner", Good, []string{"not needed"}},
		{"memlock", func(f *Facts) {}, "memory lock limit", Good, []string{"8 MiB", "not CUDA"}},
		{"memlock in a simulated run", func(f *Facts) { f.Run.Simulated = true }, "memory lock limit", Warn, []string{"147.02 MiB", "unlocked", "ulimit -l"}},
		{"memlock in a container", func(f *Facts) { f.Run.Simulated = true; f.Limits.Container = "docker" }, "memory lock limit", Warn, []string{"--ulimit memlock=-1"}},
		{"memlock that does not hold for root", func(f *Facts) { f.Run.Simulated, f.Limits.MemlockExempt = true, true }, "memory lock limit", Good, []string{"exempt"}},
		{"memlock unlimited", func(f *Facts) { f.Run.Simulated = true; f.Limits.MemlockSoft = to(pressure.Unlimited) }, "memory lock limit", Good, []string{"unlimited"}},
		{"memlock unknown", func(f *Facts) { f.Limits.MemlockSoft = nil }, "memory lock limit", Unknown, []string{"n/a"}},
		{"container limit", func(f *Facts) {
			f.Limits.TotalBytes, f.Limits.Source, f.Limits.LimitedBy, f.Limits.Container = to(2*gib), pressure.FromContainer, "memory.max of /docker/ab12 (cgroup v2)", "docker"
		}, "container limit", Warn, []string{"2 GiB of the machine's 64 GiB", "memory.max of /docker/ab12", "docker run --memory"}},
		{"container limit by systemd", func(f *Facts) { f.Limits.Source = pressure.FromContainer }, "container limit", Warn, []string{"systemd-run"}},
		{"container limit unknown", func(f *Facts) { f.Limits.TotalBytes = nil }, "container limit", Unknown, []string{"n/a"}},
		{"small /dev/shm", func(f *Facts) { f.Limits.DevShmBytes = to(int64(64 << 20)) }, "shared-memory mount", Good, []string{"64 MiB", "does not matter here", "--shm-size"}},
		{"workers equal CPUs", func(f *Facts) { f.Run.Workers = 16 }, "workers", Good, nil},
		{"workers above usable CPUs (C34)", func(f *Facts) { f.Run.Workers, f.Limits.UsableCPUs, f.Limits.AffinityCPUs = 8, 4, to(4) }, "workers", Warn, []string{"workers 8, usable CPUs 4 -", "Do: --workers 4"}},
		{"workers above quota", func(f *Facts) {
			f.Run.Workers, f.Limits.UsableCPUs, f.Limits.QuotaCPUs, f.Limits.QuotaSource = 8, 3, to(2.5), "cpu.max of /a"
		}, "workers", Warn, []string{"usable CPUs 3 (quota 2.50 of cpu.max of /a)"}},
		{"RAM sold as 32 GB", func(f *Facts) { f.Limits.RAMBytes = to(int64(32_900_000_000)) }, "RAM", Good, nil},
		{"RAM under 32 GB", func(f *Facts) { f.Limits.RAMBytes = to(int64(31_999_999_999)) }, "RAM", Warn, []string{"29.8 GiB", "under 32 GB"}},
		{"no swap", func(f *Facts) { f.Limits.SwapBytes = to(int64(0)) }, "swap", Warn, []string{"none", "swapon"}},
		{"swap in use", func(f *Facts) { f.Limits.SwapUsedBytes = to(gib) }, "swap", Warn, []string{"1 GiB of 8 GiB in use"}},
		{"swap hardly used", func(f *Facts) { f.Limits.SwapUsedBytes = to(8 * gib / 10) }, "swap", Good, nil},
		{"swap unknown", func(f *Facts) { f.Limits.SwapBytes = nil }, "swap", Unknown, []string{"n/a"}},
		{"huge pages off", func(f *Facts) { f.Limits.HugePages = "never" }, "huge pages", Warn, []string{"echo madvise"}},
		{"strict overcommit", func(f *Facts) { f.Limits.Overcommit = "never" }, "overcommit", Warn, []string{"vm.overcommit_memory=0"}},
		{"link at idle", func(f *Facts) { f.GPUs[0].UnderLoad, f.GPUs[0].Generation = false, to(1) }, "PCIe link of A", Unknown, []string{"at most generation 5 x16", "read under load by pinscope bandwidth"}},
		{"link slow under load", func(f *Facts) { f.GPUs[0].Generation = to(3) }, "PCIe link of A", Bad, []string{"generation 3 x16, at most 5 x16"}},
		{"link narrow under load", func(f *Facts) { f.GPUs[0].Width = to(8) }, "PCIe link of A", Bad, []string{"generation 5 x8"}},
		{"link unknown", func(f *Facts) { f.GPUs[0].Width = nil }, "PCIe link of A", Unknown, []string{"n/a"}},
		{"far NUMA node", func(f *Facts) { f.Limits.NUMANodes, f.Run.NUMANode = to(2), to(1) }, "NUMA", Bad, []string{"A at node 0, run bound to node 1", "--numa auto"}},
		{"one of two GPUs is far", func(f *Facts) {
			f.GPUs = []GPU{{Name: "A", NUMANode: to(1)}, {Name: "B", NUMANode: to(0)}}
			f.Limits.NUMANodes, f.Run.NUMANode = to(2), to(0)
		}, "NUMA", Bad, []string{"A at node 1, B at node 0"}},
		{"near NUMA node", func(f *Facts) { f.Limits.NUMANodes, f.Run.NUMANode = to(2), to(0) }, "NUMA", Good, []string{"run bound to node 0"}},
		{"no NUMA node chosen", func(f *Facts) { f.Limits.NUMANodes = to(2) }, "NUMA", Warn, []string{"run not bound"}},
		{"GPU's node unknown", func(f *Facts) { f.Limits.NUMANodes, f.GPUs[0].NUMANode = to(2), to(-1) }, "NUMA", Unknown, []string{"not known"}},
		{"virtual machine", func(f *Facts) { f.Limits.VirtualMachine = "KVM" }, "surroundings", Warn, []string{"virtual machine (KVM)"}},
		{"WSL2", func(f *Facts) { f.Limits.WSL2 = true }, "surroundings", Warn, []string{"WSL2", "512"}},
		{"safe ring", func(f *Facts) {}, "largest safe ring", Good, []string{"24 GiB, 668 slots of 36.75 MiB", "Half of the 48 GiB available", "pinscope pressure"}},
		{"ring above it", func(f *Facts) { f.Run.PinnedBytes = 24*gib + 1 }, "largest safe ring", Bad, []string{"the run would pin 24 GiB"}},
		{"ring unknown", func(f *Facts) { f.Limits.AvailableBytes = nil }, "largest safe ring", Unknown, []string{"n/a"}},

		{"pin: yes, and it is", func(f *Facts) {}, "Turn pinning on?", Good, []string{"yes: a batch is 36.75 MiB"}},
		{"pin: yes, but it is off", func(f *Facts) { f.Run.Pinned = false }, "Turn pinning on?", Good, []string{"Do: --pin thread"}},
		{"pin: not on the CPU", func(f *Facts) { f.Run.CPU = true }, "Turn pinning on?", Warn, []string{"no: training is on the CPU", "--pin off"}},
		{"pin: little memory", func(f *Facts) {
			f.Limits.AvailableBytes = to(int64(100 << 20))
			f.Limits.TotalBytes = f.Limits.AvailableBytes
		}, "Turn pinning on?", Warn, []string{"no: 50 MiB can be pinned, a slot takes 36.75 MiB"}},
		{"pin: small batch", func(f *Facts) { f.Run.BatchBytes = 1<<20 - 1 }, "Turn pinning on?", Good, []string{"hardly worth it: a batch is 1 MiB"}},
		{"pin: at 1 MiB", func(f *Facts) { f.Run.BatchBytes = 1 << 20 }, "Turn pinning on?", Good, []string{"yes"}},
		{"pin: tokens", func(f *Facts) { f.Run.Tokens, f.Run.BatchBytes = true, 131072 }, "Turn pinning on?", Good, []string{"token ids is 128 KiB"}},
		{"pin: no batch", func(f *Facts) { f.Run.BatchBytes = 0 }, "Turn pinning on?", Unknown, nil},
		{"in a container", func(f *Facts) { f.Limits.Container = "docker" }, "In a container?", Good, []string{"yes, with 64 GiB (system memory)", "--shm-size"}},
		{"workers: waiting with cores left", func(f *Facts) { f.Run.WaitShare = to(0.5) }, "Workers up to the cores?", Warn, []string{"waits 50.0 %", "--workers 8"}},
		{"workers: waiting with none left", func(f *Facts) { f.Run.WaitShare, f.Run.Workers = to(0.5), 16 }, "Workers up to the cores?", Good, nil},
		{"idle GPU", func(f *Facts) { f.Run.WaitShare, f.Run.DeviceBusyShare = to(0.20), to(0.3) }, "GPU idle and CPU busy?", Warn, []string{"works 30.0 %", "waits for data 20.0 %", "loading is the limit"}},
		{"idle GPU not measured", func(f *Facts) { f.Run.WaitShare = nil }, "GPU idle and CPU busy?", Unknown, []string{"not measured", "pinscope run"}},
		{"non_blocking on pageable memory", func(f *Facts) { f.Run.Pinned = false }, "non_blocking without effect?", Warn, []string{"pageable memory", "--pin thread"}},
		{"non_blocking on one stream", func(f *Facts) { f.Run.DedicatedStream = false }, "non_blocking without effect?", Good, []string{"--copy-stream dedicated"}},
		{"non_blocking off", func(f *Facts) { f.Run.NonBlocking = false }, "non_blocking without effect?", Warn, []string{"--non-blocking"}},
		{"non_blocking on the CPU", func(f *Facts) { f.Run.CPU = true }, "non_blocking without effect?", Good, []string{"no copy"}},
		{"crashes", func(f *Facts) { f.Run.PinnedBytes = 30 * gib }, "Crashes or a slow system?", Bad, []string{"pins 30 GiB, safe are 24 GiB"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			facts := healthy()
			tc.change(&facts)
			f := find(t, Examine(facts), tc.topic)
			if f.Level != tc.level {
				t.Errorf("level %v, want %v: %s", f.Level, tc.level, f.line())
			}
			for _, want := range tc.found {
				if !strings.Contains(f.line(), want) {
					t.Errorf("%q is not in %q", want, f.line())
				}
			}
			if f.Level >= Warn && f.Do == "" {
				t.Errorf("nothing to do about %q", f.line())
			}
		})
	}
}

// A machine of which nothing is known gives no good news about it, and no zeros.
func TestNothingKnown(t *testing.T) {
	r := Examine(Facts{Limits: pressure.Limits{UsableCPUs: 1, Source: pressure.FromNowhere}})
	for _, f := range r.Findings {
		switch f.Topic {
		case "CUDA runner", "shared-memory mount", "workers", "surroundings":
		default:
			if f.Level != Unknown || !strings.Contains(f.Found, "n/a") {
				t.Errorf("%s", f.line())
			}
		}
	}
}

func TestTextAndJSON(t *testing.T) {
	r := Examine(healthy())
	var text strings.Builder
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	if want := len(r.Findings) + len(r.Advice) + 2; len(lines) != want {
		t.Errorf("%d lines, want %d:\n%s", len(lines), want, text.String())
	}
	if !strings.HasPrefix(lines[0], "good    NVIDIA driver: working, 1 GPU - ") {
		t.Errorf("%q", lines[0])
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(encoded), `"level":"good"`) {
		t.Errorf("%s", encoded)
	}
	var again Report
	if err := json.Unmarshal(encoded, &again); err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("read back: %v", err)
	}
	if err := r.Text(broken{}); err == nil {
		t.Error("a failing writer was not noticed")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }
