package report

import (
	"fmt"

	"pinscope/bench/trace"
)

// Language is that of the words in charts and reports. Numbers and units are the
// same in all.
type Language uint8

// The languages.
const (
	English Language = iota
	Chinese          // simplified
)

// phrase is one text of charts and reports.
type phrase int

const (
	noData phrase = iota
	timeAxis
	simulated
	simulatedBand
	simulatedNote
	leftOut
	keptBlocks
	keptPoints
	pixelNote
	timelineTitle
	timelineOf
	worker
	pinThread
	trainer
	copyEngine
	computeEngine
	busyTitle
	busyAxis
	computeBusy
	copyBusy
	slowBusy
	queueTitle
	queueAxis
	queueNote
	speedUpTitle
	speedUpAxis
	pairAxis
	everyPair
	medianKey
	intervalLevel
	noDifference
	noInterval
	throughputTitle
	throughputAxis
	repeatAxis
	warmupKey
	medianAndInterval
	intervalOnly
	notCounted
	barsTitle
	barsAxis
	rest
	restNote
	bandwidthTitle
	bandwidthAxis
	sizeAxis
	linkLimit
	aboveLimit
	zerosLeftOut
	memoryTitle
	memoryAxis
	memoryLogAxis
	pinnedKey
	rssAnonKey
	rssShmemKey
	availableKey
	limitKey
	stallTitle
	stallAxis
	someKey
	fullKey
	reclaimTitle
	reclaimAxis
	reclaimKey
	refaultKey
	planTitle
	pinnedPart
	queuePart
	dataPart
	otherPart
	planNote
	scalingTitle
	workersAxis
	idealKey
	sweepTitle
	ladderTitle
	ratesTitle
	gainKey
	lossKey
	evenKey
	untoldKey
	ballastTitle
	ballastAxis
	rateKey
	cacheTitle
	cacheAxis
	cacheKey
	strainTitle
	strainAxis
	safeKey
	kneeKey
	reportTitle
	experimentTitle
	verdictHead
	settingsHead
	machineHead
	commandHead
	windowNote
	sameScale
	noTrace
	warningsHead
	moreLines
	rowSource
	rowBatch
	rowWorkers
	rowPin
	rowBlocking
	rowStream
	rowMemory
	rowRing
	rowPinned
	rowPinTime
	rowRepeats
	rowThroughput
	rowHidden
	rowDevice
	rowLink
	rowLinkLoad
	rowDriver
	rowHost
	rowMemoryTotal
	rowDate
	rowUpTo
	rowPerStep
	rowCacheFile
	rowAvailable
	rowMemlock
	rowInside
	tryThis
	duringSide
	rowTool
	rowClock
	phrases
)

var phraseText = [phrases][2]string{
	noData:            {"no data", "无数据"},
	timeAxis:          {"time", "时间"},
	simulated:         {"SIMULATED", "模拟"},
	simulatedBand:     {"SIMULATED GPU", "模拟 GPU"},
	simulatedNote:     {"link and compute times come from a model, host work is real", "链路与计算时间来自模型，主机上的工作是真实的"},
	leftOut:           {"points left out: %s (not finite numbers)", "略去的点：%s（不是有限数值）"},
	keptBlocks:        {"some lanes hold 1 in %s blocks of %s batches: gaps there are not idle time", "部分通道每 %s 组（每组 %s 批）只保留一组：其空白并非空闲"},
	keptPoints:        {"1 in %s points kept, the newest %s all", "每 %s 个点保留一个，最新 %s 个全部保留"},
	pixelNote:         {"spans too short to see are a dot wide, paler the less of it they fill", "过短的区间画成一个点宽，占得越少颜色越淡"},
	timelineTitle:     {"Timeline", "时间线"},
	timelineOf:        {"Timeline of %s", "%s 的时间线"},
	worker:            {"worker %d", "工作线程 %d"},
	pinThread:         {"pin thread", "锁页线程"},
	trainer:           {"trainer", "训练循环"},
	copyEngine:        {"copy engine", "拷贝引擎"},
	computeEngine:     {"compute engine", "计算引擎"},
	busyTitle:         {"GPU busy, from events", "GPU 忙碌程度（事件计时）"},
	busyAxis:          {"busy", "忙碌"},
	computeBusy:       {"compute engine, per batch", "计算引擎，逐批"},
	copyBusy:          {"copy engine, per batch", "拷贝引擎，逐批"},
	slowBusy:          {"driver's utilisation (slow mean)", "驱动给出的利用率（慢速平均）"},
	queueTitle:        {"Batches ready when the trainer asks", "训练循环取批时就绪的批数"},
	queueAxis:         {"batches", "批"},
	queueNote:         {"empty %s of %s times, mean %s", "%[2]s 次中 %[1]s 次为空，平均 %[3]s"},
	speedUpTitle:      {"B against A, each pair of repeats", "B 相对 A，每对重复"},
	speedUpAxis:       {"change of throughput", "吞吐变化"},
	pairAxis:          {"pair, in the order run", "配对（按运行顺序）"},
	everyPair:         {"a pair", "一对"},
	medianKey:         {"median %s", "中位数 %s"},
	intervalLevel:     {"%s interval %s..%s", "%s 区间 %s..%s"},
	noDifference:      {"no difference", "无差别"},
	noInterval:        {"too few pairs for an interval: at least %d are needed", "配对太少，无法给出区间：至少需要 %d 对"},
	throughputTitle:   {"Throughput of each repeat", "每次重复的吞吐"},
	throughputAxis:    {"samples/s", "样本/s"},
	repeatAxis:        {"repeat, in the order run", "重复（按运行顺序）"},
	intervalOnly:      {"95 % interval", "95 % 区间"},
	medianAndInterval: {"median, 95 % interval", "中位数，95 % 区间"},
	warmupKey:         {"warm-up, not counted", "预热，不计入"},
	notCounted:        {"repeats without a throughput, left out: %s", "略去没有吞吐的重复：%s"},
	barsTitle:         {"Where the trainer's time goes", "训练循环的时间去向"},
	barsAxis:          {"time of a batch", "每批时间"},
	rest:              {"rest", "其余"},
	restNote:          {"bars end at wall time / batches: %s", "长条终点为总时间 / 批数：%s"},
	bandwidthTitle:    {"Bandwidth by size", "带宽与大小"},
	bandwidthAxis:     {"bandwidth", "带宽"},
	sizeAxis:          {"size of a copy", "拷贝大小"},
	linkLimit:         {"link's limit %s", "链路上限 %s"},
	aboveLimit:        {"above the link's limit, crossed out: %s (no copy is that fast, the clock is wrong)", "高于链路上限（打叉）：%s（拷贝不可能这样快，计时有误）"},
	zerosLeftOut:      {"points of 0 left out: %s (a log axis has no 0)", "略去为 0 的点：%s（对数轴没有 0）"},
	memoryTitle:       {"Memory", "内存"},
	memoryLogAxis:     {"memory (log)", "内存（对数）"},
	memoryAxis:        {"memory", "内存"},
	pinnedKey:         {"pinned (our ledger)", "锁页（自己的账目）"},
	rssAnonKey:        {"RSS anonymous", "RSS 匿名"},
	rssShmemKey:       {"RSS shared", "RSS 共享"},
	availableKey:      {"available", "可用"},
	limitKey:          {"limit %s", "上限 %s"},
	stallTitle:        {"Time lost waiting for memory (PSI)", "等待内存的时间（PSI）"},
	stallAxis:         {"of time", "占时间"},
	someKey:           {"some task waits", "有任务等待"},
	fullKey:           {"all tasks wait", "全部任务等待"},
	reclaimTitle:      {"Page reclaim", "页面回收"},
	reclaimAxis:       {"pages/s", "页/s"},
	reclaimKey:        {"taken back", "回收"},
	refaultKey:        {"needed again", "再次换入"},
	planTitle:         {"Host memory by plan", "计划占用的主机内存"},
	pinnedPart:        {"pinned: nothing can reclaim it", "锁页：无法回收"},
	queuePart:         {"pageable slots", "可换页槽位"},
	dataPart:          {"data set", "数据集"},
	otherPart:         {"other", "其他"},
	planNote:          {"worked out from the settings; this result holds no samples of memory", "由设置算出；此结果没有内存采样"},
	scalingTitle:      {"Throughput by workers", "吞吐与工作线程数"},
	workersAxis:       {"workers", "工作线程数"},
	idealKey:          {"in proportion to workers", "与线程数成正比"},
	sweepTitle:        {"Sweep", "扫描"},
	ladderTitle:       {"Step by step", "逐步对比"},
	ratesTitle:        {"Throughput, median", "吞吐中位数"},
	gainKey:           {"faster", "更快"},
	lossKey:           {"slower", "更慢"},
	evenKey:           {"no measurable difference", "没有可测的差别"},
	untoldKey:         {"cannot tell", "无法判断"},
	ballastTitle:      {"Throughput as memory is taken away", "内存被占用时的吞吐"},
	ballastAxis:       {"memory held", "占用的内存"},
	rateKey:           {"loader", "加载器"},
	cacheTitle:        {"Reading cached files beside it", "同时读取缓存文件"},
	cacheAxis:         {"rate", "速率"},
	cacheKey:          {"cached files", "缓存文件"},
	strainTitle:       {"Time lost waiting for memory (PSI)", "等待内存的时间（PSI）"},
	strainAxis:        {"of time", "占时间"},
	safeKey:           {"most without harm %s", "无害上限 %s"},
	kneeKey:           {"falls off at %s", "从 %s 起下降"},
	experimentTitle:   {"What taking memory away does", "内存被占用的后果"},
	reportTitle:       {"Pinned memory and a training loop", "锁页内存与训练循环"},
	verdictHead:       {"What limits it", "瓶颈"},
	settingsHead:      {"Settings", "设置"},
	machineHead:       {"Machine", "机器"},
	commandHead:       {"Run it again", "重新运行"},
	sameScale:         {"; one scale for all", "；各方比例相同"},
	windowNote:        {"%s of steady state, from batch %s", "稳态中的 %s，自第 %s 批起"},
	noTrace:           {"no repeat that counts was traced", "没有记录计入的重复"},
	warningsHead:      {"Warnings", "警告"},
	moreLines:         {"%d more lines in the result", "结果中还有 %d 行"},
	rowSource:         {"source", "数据源"},
	rowBatch:          {"batch", "批大小"},
	rowWorkers:        {"workers x prefetch", "工作线程 x 预取"},
	rowPin:            {"pin", "锁页方式"},
	rowBlocking:       {"non_blocking", "non_blocking"},
	rowStream:         {"copy stream", "拷贝流"},
	rowMemory:         {"host memory", "主机内存"},
	rowRing:           {"ring slots", "环槽位"},
	rowPinned:         {"pinned", "锁页"},
	rowPinTime:        {"time to pin", "锁页用时"},
	rowRepeats:        {"epochs / repeats + warm-up", "轮数 / 重复 + 预热"},
	rowThroughput:     {"samples/s, median", "样本/s，中位数"},
	rowHidden:         {"copy hidden", "被掩盖的拷贝"},
	rowDevice:         {"device", "设备"},
	rowLinkLoad:       {"link under load", "负载下的链路"},
	rowLink:           {"link", "链路"},
	rowDriver:         {"driver", "驱动"},
	rowHost:           {"host", "主机"},
	rowMemoryTotal:    {"memory", "内存"},
	rowAvailable:      {"available", "可用内存"},
	rowMemlock:        {"memlock limit", "memlock 限制"},
	rowInside:         {"runs inside", "运行于"},
	tryThis:           {"try %s", "建议 %s"},
	duringSide:        {"while %s runs", "%s 运行时"},
	rowUpTo:           {"up to, of available", "上限（占可用内存）"},
	rowPerStep:        {"time of a step", "每步用时"},
	rowCacheFile:      {"cached file", "缓存文件"},
	rowDate:           {"date", "日期"},
	rowTool:           {"Pinscope", "Pinscope"},
	rowClock:          {"device clock", "设备时钟"},
}

var stageText = [trace.Stages]string{
	trace.WaitSlot:  "等待槽位",
	trace.Load:      "加载",
	trace.Collate:   "拼批",
	trace.PinWait:   "等待锁页",
	trace.RingWait:  "等待锁页槽位",
	trace.PinCopy:   "锁页拷贝",
	trace.WaitBatch: "等待批",
	trace.CopyCall:  "拷贝调用",
	trace.WaitCopy:  "等待拷贝",
	trace.WaitStep:  "等待训练步",
	trace.Launch:    "启动",
	trace.HtoD:      "主机到设备拷贝",
	trace.Gather:    "收集",
	trace.Step:      "训练步",
}

// say is a phrase in the look's language.
func (l Look) say(p phrase, args ...any) string {
	text := phraseText[p][0]
	if l.Language == Chinese {
		text = phraseText[p][1]
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// stage names a stage.
func (l Look) stage(s trace.Stage) string {
	switch {
	case l.Language == Chinese && int(s) < len(stageText):
		return stageText[s]
	case s == trace.HtoD:
		return "HtoD copy"
	}
	return s.String()
}

// lane names a lane.
func (l Look) lane(kind trace.LaneKind, index int) string {
	switch kind {
	case trace.Worker:
		return l.say(worker, index)
	case trace.PinThread:
		return l.say(pinThread)
	case trace.Trainer:
		return l.say(trainer)
	case trace.CopyEngine:
		return l.say(copyEngine)
	case trace.ComputeEngine:
		return l.say(computeEngine)
	}
	return kind.String()
}
