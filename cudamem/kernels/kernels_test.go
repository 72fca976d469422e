package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pinscope/cudamem"
)

// The committed PTX is what the sources give.
func TestPTXIsFresh(t *testing.T) {
	nvcc, err := exec.LookPath("nvcc")
	if err != nil {
		t.Skip("no nvcc on PATH, so the PTX cannot be built anew")
	}
	if version, err := exec.Command(nvcc, "--version").Output(); err != nil || !strings.Contains(string(version), "release 11.8") {
		t.Skipf("the PTX is built by nvcc 11.8; this is %s (%v)", version, err)
	}
	source, err := os.ReadFile("kernels.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^//go:generate nvcc (.* -o )(\S+\.ptx) (\S+\.cu)$`).FindAllStringSubmatch(string(source), -1)
	if len(lines) != 9 {
		t.Fatalf("kernels.go has %d lines that build PTX, want 9", len(lines))
	}
	for _, line := range lines {
		t.Run(line[2], func(t *testing.T) {
			t.Parallel()
			fresh := filepath.Join(t.TempDir(), line[2])
			args := append(strings.Fields(line[1]), fresh, line[3])
			if out, err := exec.Command(nvcc, args...).CombinedOutput(); err != nil {
				t.Fatalf("nvcc %v: %v\n%s", args, err, out)
			}
			built, err := os.ReadFile(fresh)
			if err != nil {
				t.Fatal(err)
			}
			if placeless(string(built)) != placeless(module(line[2])) {
				t.Errorf("%s is not what %s gives: run go generate ./cudamem/kernels", line[2], line[3])
			}
		})
	}
}

// placeless is PTX without what depends on where it was built: comments, which name
// temporary files, and the hash of the source's folder in the names of what is local.
func placeless(ptx string) string {
	ptx = regexp.MustCompile(`//[^\n]*`).ReplaceAllString(ptx, "")
	return regexp.MustCompile(`(_INTERNAL|_GLOBAL__N_)_[0-9a-f]{8}_`).ReplaceAllString(ptx, "${1}_")
}

// Old drivers take the PTX, for the version and target are CUDA 11.8's and
// Maxwell's, and find in it the kernels that are asked for.
func TestPTXTarget(t *testing.T) {
	check := func(ptx string, kernels ...string) {
		t.Helper()
		for _, text := range []string{".version 7.8\n", ".target sm_52\n"} {
			if !strings.Contains(ptx, text) {
				t.Errorf("no %q", text)
			}
		}
		for _, kernel := range kernels {
			if !strings.Contains(ptx, ".entry "+kernel+"(") {
				t.Errorf("no kernel %s", kernel)
			}
		}
	}
	check(Transfer(), "gather", "digest")
	for _, input := range []cudamem.DType{cudamem.Float32, cudamem.Float16, cudamem.Uint8, cudamem.Int64} {
		for _, classes := range []int{10, 11} {
			ptx, kernels := Linear(input, Tile(classes))
			check(ptx, kernels[:]...)
		}
	}
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name                                     string
		rows, features, classes, multiprocessors int
		slices, sliceChunks, rowWarps, partials  int
		lossBlocks, blocks, tiles, stride        int
		shares, parts                            int
	}{
		// 1176 chunks over 132 multiprocessors are 9 each; 16 groups of rows for 16 warps.
		{"article", 64, 150528, 10, 132, 131, 9, 16, 131, 64, 1176 + 6, 1, 150528, 1, 1},
		// One row: 16 parts of a slice each, by one warp.
		{"one row", 1, 150528, 10, 132, 131, 9, 1, 131 * 16, 4, 1176 + 6, 1, 150528, 1, 1},
		// 28 multiprocessors would be 42 chunks each; shared memory holds 9.
		{"small GPU", 64, 150528, 10, 28, 131, 9, 16, 131, 64, 1176 + 6, 1, 150528, 1, 1},
		{"odd", 5, 7, 3, 132, 1, 1, 2, 8, 8, 1 + 2, 1, 8, 1, 1},
		{"11 classes", 4, 128, 11, 132, 1, 1, 1, 16, 4, 1 + 6, 1, 128, 1, 1},
		// 1024 x 1000 logits are 4 MB, so at most 16 partials: 74 chunks to a slice.
		{"many classes", 1024, 150528, 1000, 132, 16, 74, 16, 16, 1024, 1176 + 501, 63, 150528, 1, 1},
		// 24 chunks: 5 blocks for each slice on 132 multiprocessors; 8 x 132 gradient blocks
		// would be 44 to a chunk, but 256 groups are 32 parts of 8.
		{"few features", 1024, 3072, 10, 132, 24, 1, 16, 24, 1024, 24 + 6, 1, 3072, 5, 32},
		// 8 groups more make no 33rd part: 264 groups in 32 parts of 9 are 30 parts.
		{"no empty part", 1056 - 4, 3072, 10, 132, 24, 1, 16, 24, 1052, 24 + 6, 1, 3072, 5, 30},
		// 15 groups are too few for two parts, 16 rows for two shares.
		{"few features and rows", 60, 3072, 10, 132, 24, 1, 16, 24, 60, 24 + 6, 1, 3072, 1, 1},
		{"two parts", 64, 3072, 10, 132, 24, 1, 16, 24, 64, 24 + 6, 1, 3072, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Plan(c.rows, c.features, c.classes, c.multiprocessors)
			want := Shape{
				Tiles: c.tiles, Slices: c.slices, SliceChunks: c.sliceChunks, RowWarps: c.rowWarps, Partials: c.partials,
				LossBlocks: c.lossBlocks, Blocks: c.blocks, WeightStride: c.stride,
				Shares: c.shares, Parts: c.parts,
				PartialBytes: got.PartialBytes, DeltaBytes: got.DeltaBytes, SumBytes: got.SumBytes,
			}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if got.PartialBytes > partialsBytes {
				t.Errorf("partials take %d bytes, want at most %d", got.PartialBytes, partialsBytes)
			}
			if sums := int64(got.Parts*c.classes*got.WeightStride) * 4; got.Parts > 1 && got.SumBytes != sums || got.Parts == 1 && got.SumBytes != 0 {
				t.Errorf("sums of %d parts take %d bytes", got.Parts, got.SumBytes)
			}
			if got.Slices*got.SliceChunks*chunkValues < c.features {
				t.Errorf("slices cover %d of %d features", got.Slices*got.SliceChunks*chunkValues, c.features)
			}
		})
	}
}

func TestGatherWidth(t *testing.T) {
	for _, c := range []struct{ to, from, bytes, want uint64 }{
		{64, 128, 3072, 16}, {64, 128, 24, 8}, {64, 136, 48, 8}, {4, 128, 48, 4}, {64, 128, 12, 4}, {64, 128, 6, 1}, {65, 128, 16, 1},
	} {
		if got := GatherWidth(c.to, c.from, c.bytes); got != c.want {
			t.Errorf("%d bytes from %d to %d: %d, want %d", c.bytes, c.from, c.to, got, c.want)
		}
	}
}

func TestGatherCutUp(t *testing.T) {
	for _, c := range []struct {
		name           string
		bytes          int64
		rows           int
		copies, blocks int
	}{
		{"article", 602112, 64, 24, 8},
		{"just long enough", 512 << 10, 8, 3, 8},
		{"just too short", 512<<10 - 1, 8, 0, 16},
		{"one row", 602112, 1, 0, 16},
		{"two rows", 602112, 2, 0, 16},
		{"three rows", 602112, 3, 1, 8},
		{"labels", 8, 64, 0, 1},
		{"many labels", 8, 1024, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			copies := GatherCopies(c.bytes, c.rows)
			if blocks := GatherBlocks(c.bytes, c.rows-copies, copies); copies != c.copies || blocks != c.blocks {
				t.Errorf("%d copies and %d blocks, want %d and %d", copies, blocks, c.copies, c.blocks)
			}
		})
	}
}

func TestWide(t *testing.T) {
	for _, c := range []struct {
		name     string
		input    cudamem.DType
		address  uint64
		features int
		want     bool
	}{
		{"float32", cudamem.Float32, 4096, 8, true},
		{"float32 off 16 bytes", cudamem.Float32, 4096 + 8, 8, false},
		{"float32 of odd length", cudamem.Float32, 4096, 10, false},
		{"float16 on 8 bytes", cudamem.Float16, 4096 + 8, 4, true},
		{"uint8 on 4 bytes", cudamem.Uint8, 4096 + 4, 12, true},
		{"uint8 off 4 bytes", cudamem.Uint8, 4096 + 2, 12, false},
		{"int64 on 16 bytes", cudamem.Int64, 4096 + 16, 4, true},
		{"int64 off 16 bytes", cudamem.Int64, 4096 + 8, 4, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Wide(c.input, c.address, c.features); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
