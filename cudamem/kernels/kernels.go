package kernels

import (
	"embed"
	"fmt"

	"pinscope/cudamem"
)

//go:generate nvcc -arch=compute_52 -ptx -diag-suppress 177 -DVALUE=float -DTILE=10 -o linear_float32_10.ptx linear.cu
//go:generate nvcc -arch=compute_52 -ptx -diag-suppress 177 -DVALUE=float -DTILE=16 -o linear_float32_16.ptx linear.cu
//go:generate nvcc -arch=compute_52 -ptx -diag-suppress 177 -DVALUE=half16 -DTILE=10 -o linear_float16_10.ptx linear.cu
//go:generate nvcc -arch=compute_52 -ptx -diag-suppress 177 -DVALUE=half16 -DTILE=16 -o linear_float16_16.ptx linear.cu
//go:generate nvcc -arch=compute_52 -ptx -diag-suppress 177 -DVALUE=uint8 -DTILE=10 -o linear_uint8_10.ptx linear.cu
//go:generate nvcc -arch=compute_52 -ptx -diag-suppress 177 -DVALUE=uint8 -DTILE=16 -o linear_uint8_16.ptx linear.cu
//go:generate nvcc -arch=compute_52 -ptx -diag-suppress 177 -DVALUE=int64 -DTILE=10 -o linear_int64_10.ptx linear.cu
//go:generate nvcc -arch=compute_52 -ptx -diag-suppress 177 -DVALUE=int64 -DTILE=16 -o linear_int64_16.ptx linear.cu
//go:generate nvcc -arch=compute_52 -ptx -o transfer.ptx transfer.cu

//go:embed *.ptx
var modules embed.FS

// Threads of a block, by kernel: what the sources are compiled for.
const (
	ForwardThreads  = 512
	LossThreads     = 128
	GradientThreads = 64
	UpdateThreads   = 128
	GatherThreads   = 256
	DigestThreads   = 256
)

const (
	warp         = 32
	columnValues = 4                   // features that a lane takes at a time
	chunkValues  = columnValues * warp // features that a warp takes at a time
	groupRows    = 4                   // rows that a warp takes at a time
	waveBlocks   = 8                   // gradient blocks that a multiprocessor holds at once, whatever the tile
	partGroups   = 8                   // groups that are worth a part of the gradient
	sharedChunks = 3072 / warp         // chunks of one class in a block's shared memory

	// partialsBytes bounds what the forward pass leaves for the loss. It is
	// reached only with hundreds of classes; then slices are longer.
	partialsBytes = 64 << 20
)

// Transfer is the module with gather and digest.
func Transfer() string { return module("transfer.ptx") }

// Linear is the module for samples of a type and a tile that [Tile] gave, and the
// names of its kernels forward, loss, gradient, update and parts.
func Linear(input cudamem.DType, tile int) (ptx string, kernels [5]string) {
	for i, kernel := range []string{"forward", "loss", "gradient", "update", "parts"} {
		kernels[i] = fmt.Sprintf("%s_%s_%d", kernel, values[input], tile)
	}
	return module(fmt.Sprintf("linear_%s_%d.ptx", input, tile)), kernels
}

// values are the types of linear.cu.
var values = [...]string{cudamem.Float32: "float", cudamem.Float16: "half16", cudamem.Uint8: "uint8", cudamem.Int64: "int64"}

// module reads an embedded file; "" if there is none of that name, which the
// driver then refuses as an invalid image.
func module(name string) string {
	text, _ := modules.ReadFile(name)
	return string(text)
}

// Tile is the number of classes to a thread that suits a number of classes.
func Tile(classes int) int {
	if classes <= 10 {
		return 10
	}
	return 16
}

// Shape is how a step over some rows is cut up: the grids of its launches, and
// the sizes of what passes between them.
type Shape struct {
	Tiles       int // of classes; the grids of forward and gradient are that high
	Slices      int // of the features: the forward grid is Slices x Tiles x Shares
	SliceChunks int // chunks of 128 features in a slice
	Shares      int // forward blocks to a slice, each with a share of the rows
	RowWarps    int // of a forward block's 16 warps, those that share the rows
	Partials    int // partial sums of a logit
	LossBlocks  int // rows, in whole groups
	Blocks      int // of the gradient, a chunk each, and some for biases and loss: its grid is Blocks x Tiles x Parts
	Parts       int // gradient blocks to a chunk, each with a part of the rows; above 1 it is the kernel parts, and update follows

	WeightStride int // float32 values from one class's weights to the next's
	PartialBytes int64
	DeltaBytes   int64
	SumBytes     int64 // of what the parts add up; 0 if there is one part
}

// Plan cuts up a step for a GPU with some multiprocessors. All arguments are at least 1.
func Plan(rows, features, classes, multiprocessors int) Shape {
	tile := Tile(classes)
	chunks := ceil(features, chunkValues)
	groups := ceil(rows, groupRows)
	s := Shape{
		Tiles:        ceil(classes, tile),
		RowWarps:     1,
		LossBlocks:   groups * groupRows,
		Blocks:       ceil(classes+1, 2) + chunks,
		WeightStride: ceil(features, columnValues) * columnValues,
	}
	for s.RowWarps < ForwardThreads/warp && s.RowWarps < groups {
		s.RowWarps *= 2
	}
	parts := ForwardThreads / warp / s.RowWarps
	logitBytes := int64(rows) * int64(classes) * 4

	// One wave of blocks, but no more of a slice than shared memory holds at once,
	// unless the partials would grow too large.
	s.SliceChunks = min(ceil(chunks, multiprocessors), sharedChunks/tile)
	most := max(1, partialsBytes/(logitBytes*int64(parts)))
	if int64(ceil(chunks, s.SliceChunks)) > most {
		s.SliceChunks = ceil(chunks, int(most))
	}
	s.Slices = ceil(chunks, s.SliceChunks)
	s.Shares = clamp(multiprocessors/(s.Slices*s.Tiles), ceil(groups, s.RowWarps))
	s.Partials = s.Slices * parts
	s.PartialBytes = logitBytes * int64(s.Partials)
	s.DeltaBytes = int64(s.Tiles*s.LossBlocks) * int64(ceil(tile, 4)*16)
	s.Parts = clamp(waveBlocks*multiprocessors/(chunks*s.Tiles), groups/partGroups)
	s.Parts = ceil(groups, ceil(groups, s.Parts)) // without those that would have no rows
	if s.Parts > 1 {
		s.SumBytes = int64(s.Parts) * int64(classes) * int64(s.WeightStride) * 4
	}
	return s
}

// Wide says whether forward and gradient may load four values at once: rows
// start at address, each of features values.
func Wide(input cudamem.DType, address uint64, features int) bool {
	load := min(uint64(columnValues*input.Size()), 16)
	return features%columnValues == 0 && address%load == 0
}

// GatherParts is how many parts of a batch a launch of gather takes.
const GatherParts = 2

// GatherWidth is how many bytes of a part gather moves at once: what divides a sample's
// length, below 2 GiB, and both addresses.
func GatherWidth(to, from, bytes uint64) uint64 {
	for _, width := range []uint64{16, 8, 4} {
		if (to|from|bytes)%width == 0 {
			return width
		}
	}
	return 1
}

// GatherCopies is how many of the samples of a gather, the last ones, the copy engine
// fetches beside the kernel. A kernel's loads fill PCIe 5 x16 to 51 GB/s, whatever their
// number and order, the copy engine's to 55: together they brought 52. But a copy takes
// 3 us besides its bytes, which is worth it for long samples only.
func GatherCopies(bytes int64, rows int) int {
	if bytes < 512<<10 {
		return 0
	}
	return rows * 3 / 8
}

// GatherBlocks is how many blocks gather samples of bytes, rows of them. 16 fill a
// PCIe 5 x16 link, 8 do beside copies; each takes at least 4 KiB.
func GatherBlocks(bytes int64, rows, copies int) int {
	most := int64(16)
	if copies > 0 {
		most = 8
	}
	return int(max(1, min(most, bytes*int64(rows)/(4<<10))))
}

// DigestBlocks is the grid of a digest of bytes.
func DigestBlocks(bytes int64, multiprocessors int) int {
	return int(max(1, min(int64(multiprocessors)*8, bytes/(32*DigestThreads))))
}

func ceil(a, b int) int { return (a + b - 1) / b }

// clamp is n within 1..most, 1 if most is less.
func clamp(n, most int) int { return max(1, min(n, most)) }
