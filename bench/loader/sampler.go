package loader

import "math/bits"

// Sampler is the order in which samples are visited. It is a pure function of
// its fields: any worker can work out any batch by itself, so the order is the
// same for every number of workers, and a data set of any size costs no memory.
type Sampler struct {
	Samples  int64 // in the data set, >= 1
	Batch    int64 // samples in a full batch, >= 1
	Epochs   int64 // times the data set is gone through, >= 1
	Seed     uint64
	Shuffle  bool // a new permutation each epoch; else 0..Samples-1
	DropLast bool // leave out a last batch that is not full
}

// EpochBatches is the number of batches in an epoch; 0 when DropLast leaves none.
func (s Sampler) EpochBatches() int64 {
	full := s.Samples / s.Batch
	if s.Samples%s.Batch > 0 && !s.DropLast {
		full++
	}
	return full
}

// Batches is the number of batches over all epochs.
func (s Sampler) Batches() int64 { return s.EpochBatches() * s.Epochs }

// At is batch b (0..Batches-1, counted over all epochs).
func (s Sampler) At(b int64) Order {
	perEpoch := s.EpochBatches()
	epoch, first := b/perEpoch, b%perEpoch*s.Batch
	rows := min(s.Batch, s.Samples-first)
	order := Order{Epoch: epoch, Rows: rows, first: first}
	if s.Shuffle {
		order.permutation = newPermutation(s.Samples, s.Seed, uint64(epoch))
	}
	return order
}

// Order is the samples of one batch.
type Order struct {
	Epoch int64 // from 0
	Rows  int64 // samples in this batch

	first       int64 // position in the epoch of row 0
	permutation permutation
}

// Index is the sample in row r (0..Rows-1).
func (o Order) Index(r int64) int64 {
	if o.permutation.domain == 0 {
		return o.first + r
	}
	return int64(o.permutation.at(uint64(o.first + r)))
}

// permutation is a keyed permutation of 0..size-1 that is evaluated one value
// at a time: a Feistel network over the next power of two (Luby and
// Rackoff 1988), walked until the value falls into range (Black and Rogaway
// 2002, "cycle walking"; under two steps on average). A shuffled list would do
// the same with 8 bytes a sample and a pause at the start of each epoch.
type permutation struct {
	size, domain uint64 // domain: the power of two, >= size
	low          uint   // bits of the right half; the left half has low or low-1
	rounds       int
	keys         [mostRounds]uint64
}

// Four rounds scramble a large domain; a small one, whose halves hold only a
// few bits, takes more of them before every order is about as likely (seen in
// TestShuffleIsUniform, which four rounds fail).
const (
	fewRounds   = 4
	mostRounds  = 8
	smallDomain = 1 << 12
)

func newPermutation(size int64, seed, epoch uint64) permutation {
	p := permutation{size: uint64(size)}
	width := uint(bits.Len64(p.size - 1))
	p.domain = 1 << width
	p.low = (width + 1) / 2
	p.rounds = fewRounds
	if p.domain <= smallDomain {
		p.rounds = mostRounds
	}
	state := scramble(seed) ^ scramble(^epoch)
	for i := range p.keys {
		state += 0x9e3779b97f4a7c15 // SplitMix64's step
		p.keys[i] = scramble(state)
	}
	return p
}

func (p *permutation) at(x uint64) uint64 {
	for {
		x = p.shuffleDomain(x)
		if x < p.size {
			return x
		}
	}
}

func (p *permutation) shuffleDomain(x uint64) uint64 {
	rightBits := p.low
	leftBits := uint(bits.Len64(p.domain)) - 1 - rightBits
	left, right := x>>rightBits, x&(1<<rightBits-1)
	for _, key := range p.keys[:p.rounds] {
		left, right = right, (left^scramble(right^key))&(1<<leftBits-1)
		leftBits, rightBits = rightBits, leftBits
	}
	return left<<rightBits | right
}

// scramble is the output function of SplitMix64 (Steele, Lea, Flood 2014).
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
