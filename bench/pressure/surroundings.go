package pressure

import (
	"slices"
	"strings"
)

// container names the kind of container the process runs in, by the marks that
// each leaves: a file of its own, or its name in the path of the control group.
func (r Root) container() string {
	switch {
	case r.exists("var/run/secrets/kubernetes.io"):
		return "kubernetes"
	case r.exists("run/.containerenv"):
		return "podman"
	case r.exists(".dockerenv"):
		return "docker"
	}
	// systemd's container interface: the manager writes its name here.
	if name, ok := r.text("run/systemd/container"); ok && name != "" {
		return name
	}
	groups, _ := r.text("proc/self/cgroup")
	for _, mark := range []struct{ text, name string }{
		{"/kubepods", "kubernetes"}, {"/libpod", "podman"}, {"/docker", "docker"}, {"/lxc", "lxc"}, {"/containerd", "container"},
	} {
		if strings.Contains(groups, mark.text) {
			return mark.name
		}
	}
	if environment, ok := r.text("proc/1/environ"); ok { // readable by root only
		for entry := range strings.SplitSeq(environment, "\x00") {
			if name, ok := strings.CutPrefix(entry, "container="); ok && name != "" {
				return name
			}
		}
	}
	return ""
}

// virtualMachine names the machine's maker when it is a virtual one, by its DMI
// strings or the processor's hypervisor flag (CPUID leaf 1, ECX bit 31).
func (r Root) virtualMachine() string {
	vendor, _ := r.text("sys/class/dmi/id/sys_vendor")
	product, _ := r.text("sys/class/dmi/id/product_name")
	dmi := vendor + " " + product
	// The strings that systemd-detect-virt looks for (src/basic/virt.c).
	for _, mark := range []struct{ text, name string }{
		{"KVM", "KVM"}, {"OpenStack", "KVM"}, {"KubeVirt", "KVM"}, {"Amazon EC2", "Amazon EC2"}, {"QEMU", "QEMU"},
		{"VMware", "VMware"}, {"VMW", "VMware"}, {"innotek GmbH", "VirtualBox"}, {"VirtualBox", "VirtualBox"},
		{"Xen", "Xen"}, {"Bochs", "Bochs"}, {"Parallels", "Parallels"}, {"BHYVE", "bhyve"}, {"Hyper-V", "Hyper-V"},
		{"Virtual Machine", "Hyper-V"}, {"Apple Virtualization", "Apple"}, {"Google Compute Engine", "Google Compute Engine"},
	} {
		if strings.Contains(dmi, mark.text) && !strings.Contains(dmi, ".metal") { // EC2's bare machines
			return mark.name
		}
	}
	if kind, ok := r.text("sys/hypervisor/type"); ok && kind != "" {
		return kind
	}
	if r.hypervisorFlag() {
		return "unknown hypervisor"
	}
	return ""
}

// hypervisorFlag reads the first processor's flags. (procfs has no CPUInfo
// outside Linux.)
func (r Root) hypervisorFlag() bool {
	text, _ := r.text("proc/cpuinfo")
	for row := range strings.Lines(text) {
		key, flags, _ := strings.Cut(row, ":")
		if strings.TrimSpace(key) == "flags" {
			return slices.Contains(strings.Fields(flags), "hypervisor")
		}
	}
	return false
}

// wsl2: Microsoft's kernels say so in their release; version 1 has no kernel of
// its own and no GPU, and writes "Microsoft" with a capital.
func (r Root) wsl2() bool {
	release, _ := r.text("proc/sys/kernel/osrelease")
	return strings.Contains(release, "microsoft") || strings.Contains(release, "WSL2")
}
