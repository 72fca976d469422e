package units

import (
	"math"
	"testing"
	"time"
)

func TestSpelling(t *testing.T) {
	us := func(v float64) time.Duration { return time.Duration(v * 1e3) }
	for _, c := range []struct{ name, got, want string }{
		{"no bytes", Bytes(0), "0 B"},
		{"bytes", Bytes(1023), "1023 B"},
		{"one KiB", Bytes(1024), "1 KiB"},
		{"a batch", Bytes(38_535_168), "36.75 MiB"},
		{"a batch of C06", Bytes(154_140_672), "147 MiB"},
		{"the ring of C51", Bytes(4_315_938_816), "4.02 GiB"},
		{"would round to 1024 KiB", Bytes(1<<20 - 1), "1 MiB"},
		{"just does not", Bytes(1<<20 - 6), "1023.99 KiB"},
		{"less", Bytes(-1536), "-1.5 KiB"},
		{"most", Bytes(math.MaxInt64), "8 EiB"},
		{"least", Bytes(math.MinInt64), "-8 EiB"},

		{"C06 slow", Throughput(154_140_672, 30*time.Millisecond), "5.14 GB/s (4.79 GiB/s)"},
		{"C06 fast", Throughput(154_140_672, 14*time.Millisecond), "11.01 GB/s (10.25 GiB/s)"},
		{"C53", Throughput(4_194_304, us(8.192)), "512.0 GB/s (476.8 GiB/s)"},
		{"C03", Throughput(4_000, us(6.33)), "0.63 GB/s (0.59 GiB/s)"},
		{"C53 no time", Throughput(4_194_304, 0), "n/a"},
		{"C53 no copies", Throughput(0, 0), "n/a"},
		{"slow", GBps(0.00421), "0.00421 GB/s"},
		{"nothing", GBps(0), "0 GB/s"},
		{"just below 100", GBps(99.994), "99.99 GB/s"},
		{"just 100", GBps(99.996), "100.0 GB/s"},
		{"C52 in GB/s", GBps(5950.1), "5,950 GB/s"},
		{"not a rate", GBps(math.NaN()), "n/a"},
		{"endless", GBps(math.Inf(1)), "n/a"},

		{"few samples", SampleRate(0.123), "0.12"},
		{"just below 10 samples", SampleRate(9.99), "9.99"},
		{"just 10 samples", SampleRate(9.995), "10.0"},
		{"just below 100 samples", SampleRate(99.9), "99.9"},
		{"just 100 samples", SampleRate(99.96), "100"},
		{"samples", SampleRate(1234.4), "1,234"},
		{"not a rate of samples", SampleRate(math.Inf(1)), "n/a"},

		{"no time", Duration(0), "0 ns"},
		{"nanoseconds", Duration(999), "999 ns"},
		{"microseconds", Duration(us(6.333)), "6.333 us"},
		{"just below a millisecond", Duration(us(999.949)), "999.9 us"},
		{"just a millisecond", Duration(us(999.95)), "1 ms"},
		{"C12", Duration(us(12_845)), "12.85 ms"},
		{"C04", Duration(us(406_400)), "406.4 ms"},
		{"C07", Duration(us(634_000)), "634 ms"},
		{"ten", Duration(us(9_999.6)), "10 ms"},
		{"C51", Duration(2_009_766_000), "2.01 s"},
		{"seconds", Duration(119_900 * time.Millisecond), "119.9 s"},
		{"minutes", Duration(125 * time.Second), "2 min 5 s"},
		{"just an hour", Duration(time.Hour - 400*time.Millisecond), "1 h 0 min"},
		{"hours", Duration(1000*time.Hour + 3*time.Minute), "1,000 h 3 min"},
		{"less", Duration(-2 * time.Second), "-2 s"},

		{"share", Percent(0.315), "31.5 %"},
		{"loss", SignedPercent(-0.17895), "-17.9 %"},
		{"gain", SignedPercent(0.036), "+3.6 %"},
		{"no change", SignedPercent(0.0004), "0.0 %"},
		{"no change either", SignedPercent(-0.0004), "0.0 %"},
		{"not a share", Percent(math.NaN()), "n/a"},
		{"not a change", SignedPercent(math.Inf(1)), "n/a"},
		{"C01 slower", Ratio(47_589.0 / 57_961), "0.82x (-17.9 %)"},
		{"C01 faster", Ratio(32_541.5 / 31_412.6), "1.04x (+3.6 %)"},
		{"large", Ratio(1234.5), "1,234.50x (+123,350.0 %)"},
		{"not a ratio", Ratio(math.NaN()), "n/a"},

		{"count", Count(57_961), "57,961"},
		{"small count", Count(999), "999"},
		{"thousand", Count(-1000), "-1,000"},
		{"least count", Count(math.MinInt64), "-9,223,372,036,854,775,808"},
		{"number", Number(31_412.6, 1), "31,412.6"},
		{"negative number", Number(-999_999.96, 1), "-1,000,000.0"},
		{"rounds to nothing", Number(-0.04, 1), "0.0"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}
