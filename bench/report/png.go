package report

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"math"

	"pinscope/bench"
)

// A PNG report is an ordinary PNG with two chunks more, both right behind its
// header: pHYs, the dots a metre, and an iTXt chunk, in which the result file
// travels as compressed UTF-8 (W3C, Portable Network Graphics, sections 11.3.4.3
// and 11.3.3.4).
const resultKeyword = "Pinscope result"

// Limits on what is read.
const (
	mostChunkBytes = 64 << 20 // of a compressed result: a long run's is 1 MiB
	// A result's JSON, which repeats its keys, shrinks 10 to 25 fold; zlib can
	// make a thousandth of a text made for it.
	mostGrowth = 200
)

var pngSignature = []byte("\x89PNG\r\n\x1a\n")

// What [Extract] may find instead of a result, to be told apart with errors.Is.
var (
	ErrNotPNG   = errors.New("not a PNG picture")
	ErrNoResult = errors.New("a PNG picture that carries no Pinscope result")
)

// carried is a result that travels in a picture.
type carried struct {
	keyword string // Latin letters, at most 79
	result  any    // to be written as JSON
}

// writePNG writes a picture, with its DPI and, unless it is nil, a result.
func writePNG(w io.Writer, img image.Image, dpi int, r *carried) error {
	var plain bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.DefaultCompression}
	if err := encoder.Encode(&plain, img); err != nil {
		return fmt.Errorf("report: encode PNG: %w", err)
	}
	// Signature, then the header chunk: length, name, 13 bytes, checksum.
	header := len(pngSignature) + 4 + 4 + 13 + 4
	out := bytes.NewBuffer(make([]byte, 0, plain.Len()+1<<16))
	out.Write(plain.Bytes()[:header])
	writeChunk(out, "pHYs", physical(dpi))
	if r != nil {
		text, err := r.text()
		if err != nil {
			return err
		}
		writeChunk(out, "iTXt", text)
	}
	out.Write(plain.Bytes()[header:])
	_, err := w.Write(out.Bytes())
	return err
}

// physical is the content of pHYs: dots a metre along x and y, unit 1 (metre).
func physical(dpi int) []byte {
	perMetre := uint32(math.Round(float64(dpi) / 0.0254))
	content := binary.BigEndian.AppendUint32(nil, perMetre)
	content = binary.BigEndian.AppendUint32(content, perMetre)
	return append(content, 1)
}

// text is the content of iTXt: keyword, compressed or not, method, language,
// keyword in that language, text.
func (r *carried) text() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(r.keyword)
	out.Write([]byte{0, 1, 0, 0, 0})
	packed := zlib.NewWriter(&out)
	if err := json.NewEncoder(packed).Encode(r.result); err != nil {
		return nil, fmt.Errorf("report: encode result: %w", err)
	}
	if err := packed.Close(); err != nil {
		return nil, fmt.Errorf("report: compress result: %w", err)
	}
	if out.Len() > mostChunkBytes {
		return nil, fmt.Errorf("report: a result of %d bytes, compressed, is too large for a picture", out.Len())
	}
	return out.Bytes(), nil
}

func writeChunk(to *bytes.Buffer, name string, content []byte) {
	to.Write(binary.BigEndian.AppendUint32(nil, uint32(len(content))))
	begin := to.Len()
	to.WriteString(name)
	to.Write(content)
	to.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(to.Bytes()[begin:])))
}

// Extract takes the result out of a PNG report. It reads no more than it needs,
// and trusts nothing: a picture that is cut off, changed, made by another program
// or made to fill the memory gives an error that says so.
func Extract(from io.Reader) (*bench.Result, error) {
	r, err := extract(from)
	if err != nil {
		return nil, fmt.Errorf("report: read picture: %w", err)
	}
	return r, nil
}

func extract(from io.Reader) (*bench.Result, error) {
	signature := make([]byte, len(pngSignature))
	if _, err := io.ReadFull(from, signature); err != nil || !bytes.Equal(signature, pngSignature) {
		return nil, ErrNotPNG
	}
	for {
		name, content, err := readChunk(from)
		switch {
		case err != nil:
			return nil, err
		case name == "IEND":
			return nil, ErrNoResult
		case name != "iTXt":
			continue
		}
		if keyword, text, found := bytes.Cut(content, []byte{0}); found && string(keyword) == resultKeyword {
			return unpack(text)
		}
	}
}

// readChunk reads one chunk; the content only of those that may hold a result.
func readChunk(from io.Reader) (name string, content []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return "", nil, errCutOff
	}
	length, name := binary.BigEndian.Uint32(head[:4]), string(head[4:])
	if length > math.MaxInt32 {
		return "", nil, fmt.Errorf("damaged: a chunk %q of %d bytes", name, length)
	}
	if name != "iTXt" {
		if _, err := io.CopyN(io.Discard, from, int64(length)+4); err != nil {
			return "", nil, errCutOff
		}
		return name, nil, nil
	}
	if length > mostChunkBytes {
		return "", nil, fmt.Errorf("a text of %d bytes, compressed: no result is that large", length)
	}
	// Not made at once: the length may be a lie.
	content, err = io.ReadAll(io.LimitReader(from, int64(length)+4))
	if err != nil || len(content) != int(length)+4 {
		return "", nil, errCutOff
	}
	content, sum := content[:length], content[length:]
	crc := crc32.Update(crc32.ChecksumIEEE(head[4:]), crc32.IEEETable, content)
	if crc != binary.BigEndian.Uint32(sum) {
		return "", nil, errors.New("damaged: the checksum of a text does not agree with it")
	}
	return name, content, nil
}

var errCutOff = errors.New("damaged: the file is cut off")

// unpack reads what follows the keyword of iTXt.
func unpack(text []byte) (*bench.Result, error) {
	if len(text) < 2 || text[0] > 1 || text[0] == 1 && text[1] != 0 {
		return nil, errors.New("damaged: the result is packed in a way this program does not know")
	}
	compressed := text[0] == 1
	text = text[2:]
	for range 2 { // language, keyword in that language
		_, rest, found := bytes.Cut(text, []byte{0})
		if !found {
			return nil, errors.New("damaged: the text of the result has no beginning")
		}
		text = rest
	}
	if !compressed {
		return bench.ReadResult(bytes.NewReader(text))
	}
	packed, err := zlib.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("damaged: the result cannot be decompressed: %w", err)
	}
	most := int64(len(text))*mostGrowth + 1<<16
	plain, err := io.ReadAll(io.LimitReader(packed, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("damaged: the result cannot be decompressed: %w", err)
	case int64(len(plain)) > most:
		return nil, fmt.Errorf("the text of the result grows more than %d-fold: that is no result", mostGrowth)
	}
	return bench.ReadResult(bytes.NewReader(plain))
}
