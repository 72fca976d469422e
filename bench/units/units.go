// Package units writes quantities for people: one spelling of each in window,
// terminal, chart and report, the same in every locale. Memory is binary (MiB),
// rates are decimal (GB/s), and what is not defined reads "n/a", never NaN or 0.
//
// The texts hold plain ASCII, so that any terminal and font can show them.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// NotAvailable stands for a value that is not defined.
const NotAvailable = "n/a"

// Bytes is a size in binary units with up to two decimals: "36.75 MiB", "64 MiB".
func Bytes(n int64) string {
	names := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	v, i := float64(n), 0
	// What would round to 1024 belongs to the next unit.
	for math.Abs(v) >= 1023.995 && i < len(names)-1 {
		v /= 1024
		i++
	}
	return trim(strconv.FormatFloat(v, 'f', 2, 64)) + " " + names[i]
}

// Throughput is bytes moved in a time, in both spellings:
// "5.14 GB/s (4.79 GiB/s)"; not defined without bytes or time.
func Throughput(bytes int64, d time.Duration) string {
	if bytes <= 0 || d <= 0 {
		return NotAvailable
	}
	perSecond := float64(bytes) / d.Seconds()
	return fmt.Sprintf("%s (%s GiB/s)", GBps(perSecond/1e9), rate(perSecond/(1<<30)))
}

// GBps is a rate given in GB (1e9 bytes) a second: "55.40 GB/s".
func GBps(gbps float64) string {
	if !finite(gbps) {
		return NotAvailable
	}
	return rate(gbps) + " GB/s"
}

// rate keeps two decimals below 100, one below 1000, none above; and three
// digits of what is below 0.1.
func rate(v float64) string {
	switch size := math.Abs(v); {
	case size == 0:
		return "0"
	case size < 0.1:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case size < 99.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case size < 999.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return Number(v, 0)
	}
}

// SampleRate is samples a second, with three digits or, from 100 on, none behind
// the point: "4.73", "50.0", "12,800".
func SampleRate(samplesPerS float64) string {
	switch {
	case samplesPerS < 9.995:
		return Number(samplesPerS, 2)
	case samplesPerS < 99.95:
		return Number(samplesPerS, 1)
	default:
		return Number(samplesPerS, 0)
	}
}

// Duration is a time with four digits, no more: "12.85 ms", "2.01 s", "400 ms";
// from two minutes on in minutes and seconds, "2 min 5 s", then "1 h 3 min".
func Duration(d time.Duration) string {
	if d < 0 {
		if d == math.MinInt64 {
			d++
		}
		return "-" + Duration(-d)
	}
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d)
	case d < 999950*time.Nanosecond:
		return four(float64(d)/1e3) + " us"
	case d < 999950*time.Microsecond:
		return four(float64(d)/1e6) + " ms"
	case d < 2*time.Minute:
		return four(d.Seconds()) + " s"
	case d < time.Hour-500*time.Millisecond:
		s := int64(d.Round(time.Second) / time.Second)
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	default:
		m := int64(d.Round(time.Minute) / time.Minute)
		return fmt.Sprintf("%s h %d min", Count(m/60), m%60)
	}
}

// four writes a value from 1 up with four digits, zeros at the end left out.
func four(v float64) string {
	decimals := 3
	for limit := 10.0; v >= limit && decimals > 0; limit *= 10 {
		decimals--
	}
	return trim(strconv.FormatFloat(v, 'f', decimals, 64))
}

// Percent is a share of 1: 0.315 is "31.5 %".
func Percent(share float64) string {
	if !finite(share) {
		return NotAvailable
	}
	return Number(share*100, 1) + " %"
}

// SignedPercent is a change as a share of 1, always with its sign: -0.179 is
// "-17.9 %", 0.036 is "+3.6 %". What rounds to nothing has no sign.
func SignedPercent(change float64) string {
	text := Percent(change)
	if finite(change) && change > 0 && text != "0.0 %" {
		return "+" + text
	}
	return text
}

// Ratio is a speed-up as a factor and as a change: 0.82105 is "0.82x (-17.9 %)".
func Ratio(r float64) string {
	if !finite(r) {
		return NotAvailable
	}
	return fmt.Sprintf("%sx (%s)", Number(r, 2), SignedPercent(r-1))
}

// Count is a whole number with a comma between thousands: "57,961".
func Count(n int64) string { return group(strconv.FormatInt(n, 10)) }

// Number is a number with so many decimals and a comma between thousands:
// "31,412.6". What rounds to 0 has no sign.
func Number(v float64, decimals int) string {
	if !finite(v) {
		return NotAvailable
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return group(text)
}

// group puts commas between the thousands of a decimal number.
func group(text string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	whole, fraction, hasFraction := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasFraction {
		whole += "." + fraction
	}
	return sign + whole
}

// trim leaves out zeros at the end of a fraction.
func trim(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
