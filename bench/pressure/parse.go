package pressure

import (
	"bytes"
	"math"
)

// The parsers take a file's text as it was read and allocate nothing. Only whole
// lines count: a number cut off by a short read would otherwise pass for a
// smaller one. A line that makes no sense leaves its figure unknown.

// line cuts the first whole line off text.
func line(text []byte) (first, rest []byte, ok bool) {
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		return nil, nil, false
	}
	return text[:end], text[end+1:], true
}

// word cuts the first word off a line.
func word(text []byte) (first, rest []byte) {
	start := 0
	for start < len(text) && isSpace(text[start]) {
		start++
	}
	end := start
	for end < len(text) && !isSpace(text[end]) {
		end++
	}
	return text[start:end], text[end:]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// whole reads digits, nothing else, into 63 bits.
func whole(digits []byte) (value int64, ok bool) {
	if len(digits) == 0 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		d := int64(c - '0')
		if value > (math.MaxInt64-d)/10 {
			return 0, false
		}
		value = value*10 + d
	}
	return value, true
}

// kibibytes reads "  1234 kB" into bytes. The kernel's kB are 1024 bytes.
func kibibytes(text []byte) (n int64, ok bool) {
	digits, rest := word(text)
	unit, rest := word(rest)
	end, _ := word(rest)
	n, ok = whole(digits)
	if !ok || string(unit) != "kB" || len(end) > 0 || n > math.MaxInt64/1024 {
		return 0, false
	}
	return n * 1024, true
}

// single reads a file of one number: "1234\n".
func single(text []byte) (value int64, ok bool) {
	first, rest, ok := line(text)
	if !ok || len(rest) > 0 {
		return 0, false
	}
	return whole(first)
}

// limit reads a file of one limit. Version 2 writes "max" for none, version 1 the
// largest multiple of the page size (whatever that is: 2^62 stands for all).
func limit(text []byte) (bytes int64, unlimited, ok bool) {
	if string(text) == "max\n" {
		return 0, true, true
	}
	bytes, ok = single(text)
	if ok && bytes >= 1<<62 {
		return 0, true, true
	}
	return bytes, false, ok
}

// pair splits "key value" where the value is a whole number.
func pair(text []byte) (key []byte, value int64, ok bool) {
	key, rest := word(text)
	digits, rest := word(rest)
	end, _ := word(rest)
	value, ok = whole(digits)
	return key, value, ok && len(end) == 0
}

// eachPair calls do for each whole line "key value" of a text.
func eachPair(text []byte, do func(key []byte, value int64)) {
	for {
		first, rest, ok := line(text)
		if !ok {
			return
		}
		text = rest
		if key, value, ok := pair(first); ok {
			do(key, value)
		}
	}
}

// processStatus reads /proc/PID/status.
func processStatus(s *Sample, text []byte) {
	for {
		first, rest, ok := line(text)
		if !ok {
			return
		}
		text = rest
		key, value := word(first)
		var f Figure
		switch string(key) {
		case "VmLck:":
			f = LockedMemory
		case "RssAnon:":
			f = RSSAnon
		case "RssFile:":
			f = RSSFile
		case "RssShmem:":
			f = RSSShmem
		case "VmSwap:":
			f = Swapped
		default:
			continue
		}
		n, ok := kibibytes(value)
		s.set(f, n, ok)
	}
}

// processStat reads /proc/PID/stat: minor faults are field 10, major ones 12
// (proc_pid_stat(5)). The name, field 2, may hold spaces and parentheses.
func processStat(s *Sample, text []byte) {
	first, _, ok := line(text)
	if !ok {
		return
	}
	rest := first[bytes.LastIndexByte(first, ')')+1:]
	if len(rest) == len(first) {
		return
	}
	for field := 3; field <= 12; field++ {
		var digits []byte
		digits, rest = word(rest)
		n, ok := whole(digits)
		switch field {
		case 10:
			s.set(MinorFaults, n, ok)
		case 12:
			s.set(MajorFaults, n, ok)
		}
	}
}

// memInfo is what is read of /proc/meminfo beyond the sampled figures; -1 unknown.
type memInfo struct{ total, swapTotal, swapFree int64 }

// readMemInfo reads /proc/meminfo.
func readMemInfo(s *Sample, text []byte) (m memInfo) {
	m = memInfo{-1, -1, -1}
	for {
		first, rest, ok := line(text)
		if !ok {
			break
		}
		text = rest
		key, value := word(first)
		n, ok := kibibytes(value)
		if !ok {
			continue
		}
		switch string(key) {
		case "MemTotal:":
			m.total = n
		case "SwapTotal:":
			m.swapTotal = n
		case "SwapFree:":
			m.swapFree = n
		case "MemAvailable:":
			s.set(SystemAvailable, n, true)
		case "MemFree:":
			s.set(Free, n, true)
		case "Shmem:":
			s.set(Shmem, n, true)
		case "Mlocked:":
			s.set(Mlocked, n, true)
		case "Unevictable:":
			s.set(Unevictable, n, true)
		case "Dirty:":
			s.set(Dirty, n, true)
		case "Cached:":
			s.set(Cached, n, true)
		}
	}
	s.set(SwapUsed, m.swapTotal-m.swapFree, m.swapTotal >= 0 && m.swapFree >= 0)
	for _, f := range []Figure{SystemAvailable, Free} { // more than there is: nonsense
		if v, ok := s.Int(f); ok && m.total >= 0 && v > m.total {
			s.forget(f)
		}
	}
	return m
}

func meminfo(s *Sample, text []byte) { readMemInfo(s, text) }

// vmstat reads /proc/vmstat. Reclaim is counted apart for each of those who do
// it, and before Linux 4.8 for each zone; pgscan_anon and pgscan_file split the
// same pages in another way, and pgscan_direct_throttle counts waits.
func vmstat(s *Sample, text []byte) {
	for {
		first, rest, ok := line(text)
		if !ok {
			return
		}
		text = rest
		key, value, ok := pair(first)
		if !ok {
			continue
		}
		switch string(key) {
		case "pswpin":
			s.set(SwapInPages, value, true)
		case "pswpout":
			s.set(SwapOutPages, value, true)
		case "pgscan_direct_throttle":
		default:
			switch {
			case byWhom(key, "pgscan_"):
				s.add(ScannedPages, value, true)
			case byWhom(key, "pgsteal_"):
				s.add(StolenPages, value, true)
			case hasPrefix(key, "allocstall"):
				s.add(AllocStalls, value, true)
			case hasPrefix(key, "workingset_refault"):
				s.add(RefaultPages, value, true)
			}
		}
	}
}

// byWhom says that a counter is one of prefix's counters by who reclaims.
func byWhom(key []byte, prefix string) bool {
	if !hasPrefix(key, prefix) {
		return false
	}
	who := key[len(prefix):]
	return hasPrefix(who, "kswapd") || hasPrefix(who, "direct") || hasPrefix(who, "khugepaged") || hasPrefix(who, "proactive")
}

func hasPrefix(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}

// none stands for a figure that is not wanted.
const none = figureCount

// stalls is where the parts of a PSI file go.
type stalls struct{ some, full, someAvg10, fullAvg10 Figure }

// psi reads a file of /proc/pressure or a group's (Documentation/accounting/psi.rst):
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", totals in microseconds.
func (to stalls) psi(s *Sample, text []byte) {
	for {
		first, rest, ok := line(text)
		if !ok {
			return
		}
		text = rest
		kind, fields := word(first)
		total, average := none, none
		switch string(kind) {
		case "some":
			total, average = to.some, to.someAvg10
		case "full":
			total, average = to.full, to.fullAvg10
		}
		for len(fields) > 0 {
			var field []byte
			field, fields = word(fields)
			switch {
			case total != none && hasPrefix(field, "total="):
				micros, ok := whole(field[len("total="):])
				s.set(total, micros*1000, ok && micros <= math.MaxInt64/1000)
			case average != none && hasPrefix(field, "avg10="):
				hundredths, ok := percent(field[len("avg10="):])
				s.set(average, hundredths, ok)
			}
		}
	}
}

// percent reads "12.34" into hundredths; above 100 is nonsense.
func percent(text []byte) (hundredths int64, ok bool) {
	point := bytes.IndexByte(text, '.')
	if point < 0 || len(text)-point != 3 {
		return 0, false
	}
	units, ok1 := whole(text[:point])
	fraction, ok2 := whole(text[point+1:])
	if !ok1 || !ok2 || units > 100 {
		return 0, false
	}
	hundredths = units*percentScale + fraction
	return hundredths, hundredths <= 100*percentScale
}

// groupUsed, groupMax and groupHigh read memory.current, memory.max and memory.high.
func groupUsed(s *Sample, text []byte) {
	n, ok := single(text)
	s.set(GroupUsed, n, ok)
}

func groupMax(s *Sample, text []byte) {
	n, unlimited, ok := limit(text)
	s.set(GroupMax, n, ok && !unlimited)
}

func groupHigh(s *Sample, text []byte) {
	n, unlimited, ok := limit(text)
	s.set(GroupHigh, n, ok && !unlimited)
}

// groupStat reads memory.stat. Version 1 counts a group without its children
// under the plain names and with them under "total_".
func groupStat(s *Sample, text []byte) {
	eachPair(text, func(key []byte, value int64) {
		switch string(key) {
		case "shmem", "total_shmem":
			s.set(GroupShmem, value, true)
		case "inactive_file", "total_inactive_file":
			s.set(GroupInactiveFile, value, true)
		case "pgscan":
			s.set(GroupScannedPages, value, true)
		case "pgsteal":
			s.set(GroupStolenPages, value, true)
		default:
			if hasPrefix(key, "workingset_refault") {
				s.add(GroupRefaultPages, value, true)
			}
		}
	})
}

// groupEvents reads memory.events of version 2 and memory.oom_control of version 1.
func groupEvents(s *Sample, text []byte) {
	eachPair(text, func(key []byte, value int64) {
		switch string(key) {
		case "max":
			s.set(GroupMaxEvents, value, true)
		case "high":
			s.set(GroupHighEvents, value, true)
		case "oom":
			s.set(GroupOOMEvents, value, true)
		case "oom_kill":
			s.set(GroupOOMKills, value, true)
		}
	})
}

// groupFailures reads memory.failcnt of version 1.
func groupFailures(s *Sample, text []byte) {
	n, ok := single(text)
	s.set(GroupMaxEvents, n, ok)
}
