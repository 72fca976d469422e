package report

import (
	"image"
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/plot/cmpimg"

	"pinscope/bench/trace"
)

// tolerance lets one dot differ in shade, as rounding does from one processor to
// another; a mark that moved or changed its colour is beyond it.
const tolerance = 0.1

func TestGolden(t *testing.T) {
	for name, example := range map[string]func(){
		"timeline.png": ExampleTimeline, "timeline_dark.png": ExampleTimeline_dark, "panels.png": ExampleStack,
		"speedup.png": ExampleSpeedUp, "throughput.png": ExampleThroughput, "stagebars.png": ExampleStageBars,
		"bandwidth.png": ExampleBandwidthBySize, "memoryplan.png": ExampleMemoryPlan, "scaling.png": ExampleWorkerScaling,
		"sweep.png": ExampleSweepMap, "ladder.png": ExampleLadder, "experiment.png": ExamplePressureExperiment,
		"busy.png": ExampleGPUBusy, "queue.png": ExampleQueueDepth, "memory.png": ExampleMemoryUse,
		"report_ladder.png": ExampleWritePNG_ladder, "report_experiment.png": ExampleWriteExperimentPNG,
		"rates.png": ExampleRates, "report.png": ExampleWritePNG, "report_dark.png": ExampleWritePNG_dark,
	} {
		t.Run(name, func(t *testing.T) {
			defer os.Remove(filepath.Join("testdata", name))
			cmpimg.CheckPlotApprox(example, t, tolerance, name)
		})
	}
}

// save writes a chart as the golden images are drawn.
func save(c *Chart, name string) {
	file, err := os.Create(filepath.Join("testdata", name))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if err := c.WritePNG(file, 800, 420, 96); err != nil {
		log.Fatal(err)
	}
}

func saveStack(charts []*Chart, name string, height int, weights ...float64) {
	img, err := StackImage(charts, 800, height, 96, weights...)
	if err != nil {
		log.Fatal(err)
	}
	saveImage(img, name)
}

func saveImage(img image.Image, name string) {
	file, err := os.Create(filepath.Join("testdata", name))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if err := writePNG(file, img, 96, nil); err != nil {
		log.Fatal(err)
	}
}

func ExampleTimeline() {
	t := pinnedTrace(32)
	windows, _ := Steady([]*trace.Trace{t}, 8)
	save(Timeline(Look{}, t, windows[0]), "timeline.png")
}

func ExampleTimeline_dark() {
	// Everything, in little room: short spans are merged.
	save(Timeline(Look{Dark: true, Language: Chinese, Simulated: true}, pinnedTrace(200), Window{}), "timeline_dark.png")
}

func ExampleStack() {
	// One axis of time: causes above, costs below.
	t, m := pinnedTrace(64), memorySeries(ms*4)
	w := Window{200 * ms, 700 * ms}
	charts := []*Chart{Timeline(Look{}, t, w), GPUBusy(Look{}, t, slowCounter(), w), QueueDepth(Look{}, t.Queue, w),
		MemoryUse(Look{}, m, w), MemoryStall(Look{}, m, w), Reclaim(Look{}, m, w)}
	saveStack(charts, "panels.png", 1100, 1.8)
}

func slowCounter() []Utilization {
	var slow []Utilization
	for i := range 5 {
		slow = append(slow, Utilization{time.Duration(200+i*120) * ms, 0.62 + 0.03*float64(i)})
	}
	return slow
}

func ExampleGPUBusy() {
	save(GPUBusy(Look{}, pinnedTrace(64), slowCounter(), Window{200 * ms, 700 * ms}), "busy.png")
}

func ExampleQueueDepth() {
	save(QueueDepth(Look{}, pinnedTrace(64).Queue, Window{}), "queue.png")
}

func ExampleSpeedUp() { save(SpeedUp(Look{Simulated: true}, comparison().Comparison), "speedup.png") }

func ExampleThroughput() {
	save(Throughput(Look{Simulated: true}, comparison().Sides), "throughput.png")
}

func ExampleStageBars() { save(StageBars(Look{}, comparison().Sides), "stagebars.png") }

func ExampleMemoryPlan() { save(MemoryPlan(Look{}, comparison().Sides), "memoryplan.png") }

func ExampleMemoryUse() {
	save(MemoryUse(Look{Dark: true}, memorySeries(250*ms), Window{}), "memory.png")
}

func ExampleBandwidthBySize() { save(BandwidthBySize(Look{}, bandwidthSweep()), "bandwidth.png") }

func ExampleWorkerScaling() { save(WorkerScaling(Look{}, scaling()), "scaling.png") }

func ExampleSweepMap() { save(SweepMap(Look{}, sweep()), "sweep.png") }

func ExampleLadder() { save(Ladder(Look{}, rungs()), "ladder.png") }

func ExamplePressureExperiment() {
	saveStack(PressureExperiment(Look{}, experiment()), "experiment.png", 800)
}

func ExampleWritePNG() {
	file, err := os.Create("testdata/report.png")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if err := WritePNG(file, comparison(), Options{DPI: 96}); err != nil {
		log.Fatal(err)
	}
}

func ExampleWritePNG_dark() {
	file, err := os.Create("testdata/report_dark.png")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	o := Options{DPI: 96, Dark: true, Language: Chinese}
	if err := WritePNG(file, withMemory(comparison()), o); err != nil {
		log.Fatal(err)
	}
}

func ExampleRates() { save(Rates(Look{}, ladder().Sides), "rates.png") }

func ExampleWritePNG_ladder() {
	file, err := os.Create("testdata/report_ladder.png")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if err := WritePNG(file, withMemory(ladder()), Options{DPI: 96}); err != nil {
		log.Fatal(err)
	}
}

func ExampleWriteExperimentPNG() {
	file, err := os.Create("testdata/report_experiment.png")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if err := WriteExperimentPNG(file, experimentResult(), Options{DPI: 96}); err != nil {
		log.Fatal(err)
	}
}
