package cudamem

import "sync/atomic"

// Ledger is our own account of page-locked host memory in this process, in
// bytes and whole pages. The system's counters do not show it: cuMemHostAlloc
// memory appears as shared memory (RssShmem, not VmLck) and registered memory
// nowhere, as seen on driver 580. It counts what every device of the process holds.
type Ledger struct {
	PinnedBytes int64 // held now
	PeakBytes   int64 // most held since ResetLedgerPeak
	Calls       int64 // pins and unpins so far
}

type ledgerCounters struct{ pinned, peak, calls atomic.Int64 }

var ledger ledgerCounters

func (l *ledgerCounters) add(bytes int64) {
	l.calls.Add(1)
	now := l.pinned.Add(bytes)
	for {
		peak := l.peak.Load()
		if now <= peak || l.peak.CompareAndSwap(peak, now) {
			return
		}
	}
}

// ReadLedger reads the account. Any goroutine may call it at any time.
func ReadLedger() Ledger {
	return Ledger{PinnedBytes: ledger.pinned.Load(), PeakBytes: ledger.peak.Load(), Calls: ledger.calls.Load()}
}

// ResetLedgerPeak starts a new peak at what is held now.
func ResetLedgerPeak() { ledger.peak.Store(ledger.pinned.Load()) }
