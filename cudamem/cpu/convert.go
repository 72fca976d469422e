package cpu

import (
	"encoding/binary"
	"unsafe"

	"github.com/x448/float16"

	"pinscope/cudamem"
)

// floats gives the values of a batch as float32: float32 as they lie in memory,
// anything else converted into the layer's scratch memory. uint8 are divided by
// 255 and int64 by 65536, as the real GPU does, so that pixels and token numbers
// come out near 0 to 1.
func (l *linear) floats(values []byte) []float32 {
	if l.spec.Input == cudamem.Float32 {
		return unsafe.Slice((*float32)(unsafe.Pointer(&values[0])), len(values)/4)
	}
	out := l.input[:len(values)/int(l.spec.Input.Size())]
	switch l.spec.Input {
	case cudamem.Float16:
		for i := range out {
			out[i] = float16.Frombits(binary.NativeEndian.Uint16(values[2*i:])).Float32()
		}
	case cudamem.Uint8:
		for i := range out {
			out[i] = float32(values[i]) * (1.0 / 255)
		}
	case cudamem.Int64:
		for i := range out {
			out[i] = float32(int64(binary.NativeEndian.Uint64(values[8*i:]))) * (1.0 / 65536)
		}
	}
	return out
}
