package words

// chinese is every text of the window in simplified Chinese.
var chinese = map[string]string{
	// Buttons, menus, pages.
	"About": "关于", "All": "全部", "As PyTorch": "复制为 PyTorch 代码", "As the system": "跟随系统", "Cancel": "取消", "Close": "关闭",
	"Command line": "命令行", "Compare": "对比", "Compare chosen": "比较所选", "Copy": "复制", "Dark": "深色", "Delete": "删除", "Do: %s": "可做：%s", "Rules of thumb with your numbers": "结合你的数字的经验法则", "Doctor": "诊断", "Examine this machine": "检查这台机器", "What is here, what limits pinning, and what to do about it. Nothing is changed.": "这里有什么、什么限制锁页、该怎么办。不做任何改动。", "File": "文件",
	"Folder…": "文件夹…", "Guide": "教程", "Guide (F1)": "教程（F1）", "Help": "帮助", "Ladder": "阶梯", "Ladder: one thing at a time": "阶梯：每次只改一项", "History": "历史", "Light": "浅色",
	"Load these settings": "载入这些设置", "Memory": "内存", "Note": "备注", "Open": "打开", "Open…": "打开…", "Overview": "总览", "PNG report": "PNG 报告",
	"Quit": "退出", "Replace": "替换", "Rename": "重命名", "Result (JSON)": "结果（JSON）", "Result as text": "结果文本", "Run": "运行", "SVG report": "SVG 报告",
	"Save": "保存", "Save: %s…": "保存：%s…", "Search": "搜索", "Size %d %%": "大小 %d %%", "Stop": "停止", "Stop (Esc)": "停止（Esc）",
	"Table (CSV)": "表格（CSV）", "Text": "文本", "Timeline": "时间线", "Trace for Perfetto": "Perfetto 轨迹", "View": "视图",

	// The form.
	"Batch size": "批大小", "Copy stream": "拷贝流", "Data set": "数据集", "Device": "设备", "Device and step": "设备与训练步", "Drop last batch": "丢弃末批",
	"Epochs": "轮数", "Host memory": "主机内存", "Keep workers": "保留工作线程", "Learning rate": "学习率", "Loader": "加载器", "Measuring": "测量",
	"Most to pin": "锁页上限", "NUMA node": "NUMA 节点", "Outputs": "输出数", "Pin": "锁页方式", "Pinning": "锁页", "Prefetch": "预取", "Preset": "预设",
	"Repeats": "重复次数", "Ring slots": "环形槽位", "Risk memory": "允许冒险", "Samples": "样本数", "Seed": "随机种子", "Settings": "设置",
	"Settings to start from; changing one leaves the preset.": "作为起点的一组设置；改动任何一项即脱离预设。",
	"Shape": "形状", "Shuffle": "打乱顺序", "Simulated GPU": "模拟 GPU", "Source": "来源", "Steps per batch": "每批步数", "Timeout": "超时", "Type": "类型",
	"Unreadable file": "无法读取的文件", "Verify every byte": "逐字节校验", "Wait for each step": "等待每一步", "Warm-up": "预热", "Workers": "工作线程",
	"batches": "批", "no preset": "无预设", "repeats": "次", "samples": "个样本", "slots": "个槽位", "steps": "步", "threads": "个线程", "times": "轮", "values": "个数",
	"Some settings are not allowed: see the marked fields.":            "有些设置不允许：见标出的项。",
	"over in a second: 256 samples of 3x32x32, for a first look":       "一秒内结束：256 个 3x32x32 样本，先看一眼",
	"the article's script: samples drawn as they are read, 4 workers":  "文章的脚本：读取时生成样本，4 个工作线程",
	"ImageNet's shape as bytes in memory, workers fill pinned slots":   "ImageNet 的形状，字节存于内存，工作线程直接填入锁页槽位",
	"nanoGPT's batches: 64 x 256 token ids, no workers":                "nanoGPT 的批：64 x 256 个词元，无工作线程",
	"one sample of 1,000 floats a batch: the cost of calls, not bytes": "每批一个 1,000 个浮点数的样本：看调用的代价，而非字节",
	"clips of 16 frames as bytes, batch 8, dedicated copy stream":      "16 帧的片段，字节存储，批大小 8，独立拷贝流",

	// Plan, status, progress.
	"%d CPUs": "%d 个 CPU", "%d slots": "%d 个槽位", "%d slots, %s": "%d 个槽位，%s", "%s batches of %s": "%s 批，每批 %s", "%s left": "剩余 %s",
	"%s samples/s": "%s 样本/s", "%s samples/s now": "当前 %s 样本/s", "RAM %s": "内存 %s", "available %s": "可用 %s", "batch %s of %s": "第 %s 批，共 %s 批",
	"driver %s": "驱动 %s", "finishing": "收尾", "host memory %s": "主机内存 %s", "link %s": "链路 %s", "measuring": "测量",
	"Mean times in this repeat: %s": "本次重复的平均时间：%s", "no driver": "无驱动", "nothing pinned": "不锁页", "pinned %s": "锁页 %s", "pinned %s of %s at most": "锁页 %s，上限 %s",
	"repeat %d of %d": "第 %d 次重复，共 %d 次", "resident %s": "常驻 %s", "set-up": "准备", "starting": "正在启动", "stopped": "已停止", "stopping": "正在停止",
	"throughput: not known yet": "吞吐：尚不清楚", "warm-up": "预热", "SIMULATED": "模拟",

	// Stages.
	"collate": "拼批", "copy call": "拷贝调用", "gather": "收集", "HtoD copy": "HtoD 拷贝", "launch": "启动", "load": "读取", "pin copy": "锁页拷贝", "pin wait": "锁页等待", "ring wait": "等锁页槽位",
	"step": "训练步", "wait batch": "等批", "wait copy": "等拷贝", "wait slot": "等槽位", "wait step": "等训练步",

	// Results.
	" (95 %% interval %s..%s)": "（95 %% 区间 %s..%s）", "%d batches": "%d 批", "%s in %s, %d allocations, state: %s": "%s，用时 %s，%d 次分配，状态：%s",
	"%s of the copy time ran under steps": "%s 的拷贝时间与训练步重叠", "%s runs at %s samples/s": "%s 的吞吐为 %s 样本/s",
	"%s samples of %s %s (%s)": "%s 个样本，%s %s（%s）", "%s shown": "显示 %s", "95 % interval": "95 % 区间", "95 %% interval %s..%s": "95 %% 区间 %s..%s",
	"95th percentile": "第 95 百分位", "; it costs %s that nothing can reclaim": "；代价是 %s 无法回收的内存", "About this result": "关于这个结果",
	"B (%s) and A (%s): cannot tell (%s).":                                "B（%s）与 A（%s）：无法判断（%s）。",
	"B (%s) and A (%s): no measurable difference on this machine (%s)%s.": "B（%s）与 A（%s）：在这台机器上没有可测的差别（%s）%s。",
	"B (%s) is %s faster than A (%s) on this machine (%s)%s.":             "在这台机器上 B（%s）快 %s，相对于 A（%s）（%s）%s。",
	"B (%s) is %s slower than A (%s) on this machine (%s)%s.":             "在这台机器上 B（%s）慢 %s，相对于 A（%s）（%s）%s。",
	"Hidden copies": "被掩盖的拷贝",
	"Incomplete: %s. The repeats that were finished are kept.": "不完整：%s。已完成的重复均已保留。",
	"Machine": "机器", "Measured": "测量时间", "Median, samples/s": "中位数，样本/s",
	"No finished repeat: there is no timeline.":           "没有完成的重复，因此没有时间线。",
	"No repeat was finished: there is nothing to report.": "没有完成任何重复：无可报告。",
	"No result": "没有结果",
	"No result yet: the plan on the left says what the settings would take.": "还没有结果：左侧的计划说明这些设置会占用多少。",
	"No speed-up is claimed: %s.":                                            "不声称加速：%s。",
	"No speed-up is claimed: no pair of repeats was finished.":               "不声称加速：没有完成任何一对重复。",
	"Pinned": "锁页", "Pinned, as planned": "计划锁页", "Pinned, in fact": "实际锁页", "Pageable slots": "可换页槽位",
	"Planned and pinned": "计划与锁页", "PyTorch would reserve": "PyTorch 会保留", "Host memory in all": "主机内存合计", "Device memory": "设备内存",
	"PyTorch's allocator rounds each pinned tensor up to a power of two; the rings here are exact.": "PyTorch 的分配器把每个锁页张量向上取整到 2 的幂；这里的环形缓冲按实际大小分配。",
	"Side": "侧", "Stage, a batch": "阶段（每批）", "Stages, typical repeat": "各阶段（典型的一次重复）", "State": "状态", "This run": "本次运行",
	"The wheel zooms, the mouse pulls. A wait is pale and hatched.": "滚轮缩放，拖动平移。等待为浅色斜线。",
	"Throughput": "吞吐", "Time to pin": "锁页用时", "batch %s (%s), %d workers, prefetch %d": "批大小 %s（%s），%d 个工作线程，预取 %d",
	"blocking": "阻塞", "median": "中位数", "no figure": "无数值", "no interval: at least %d pairs are needed": "无区间：至少需要 %d 对",
	"own copy stream": "独立拷贝流", "pin direct": "直接锁页", "pin off": "不锁页", "pin thread": "锁页线程", "pinned data set": "整个数据集锁页", "rate": "速率", "unknown": "未知",

	"; %s is the most you should pin here": "；这里最多应锁页 %s", ".": "。",

	// History.
	"%s differs: %s and %s": "%s不同：%s 与 %s", "(intervals apart)": "（区间分开）", "(intervals overlap)": "（区间重叠）", "(no intervals)": "（无区间）",
	"Against the first": "相对第一个", "Delete %s? This cannot be undone.": "删除%s？此操作无法撤销。", "No results yet: each run is kept here.": "还没有结果：每次运行都保存在这里。",
	"One of the results is incomplete": "其中一个结果不完整",
	"One result is simulated, the other is not: their times have nothing to do with each other":                                                        "一个结果是模拟的，另一个不是：两者的时间毫无关系",
	"Repeats of different runs are not paired: a change counts only where the intervals are apart. For an interval of the change itself, use Compare.": "不同运行的重复并不成对：只有区间分开时变化才算数。要得到变化本身的区间，请用“对比”。",
	"Result": "结果", "Results: %d, chosen: %d": "结果：%d，已选：%d", "The CPU": "CPU ", "The device": "设备", "The device's model": "设备模型", "The driver": "驱动", "The kernel": "内核",
	"The machine": "机器", "The number of CPUs": "CPU 数", "The version of Pinscope": "Pinscope 版本", "cannot be read: %s": "无法读取：%s", "incomplete": "不完整",
	"kept in the history: %s": "已存入历史：%s",

	// Saving, copying, closing.
	"%s exists": "%s 已存在", "%s exists. Replace it?": "%s 已存在。要替换吗？", "A run is under way. Stop it, keep the repeats that are finished, and close?": "正在运行。要停止、保留已完成的重复并关闭吗？",
	"MIT licence. The typeface is %s:": "MIT 许可证。字体为 %s：", "Results are kept in %s.": "结果保存在 %s。", "That did not work": "未能完成", "a name for the file is missing": "缺少文件名",
	"copied": "已复制", "saved: %s": "已保存：%s", "settings loaded: %s": "已载入设置：%s", "the name holds a character that files cannot have": "名称含有文件名不允许的字符",
	"there is no result to copy": "没有可复制的结果", "there is no result to save": "没有可保存的结果",

	// Welcome and guide.
	"What does pinned memory do to a training loop on this machine?": "在这台机器上，锁页内存对训练循环有什么作用？",
	"Choose a preset on the left and press Compare: A does not pin and waits for its copies, B pins and goes on. The answer comes with an interval, and no measurable difference is an answer too.": "在左侧选择预设并按“对比”：A 不锁页并等待拷贝，B 锁页并继续执行。答案附有区间，没有可测的差别也是答案。",
	"Run measures the settings on the left alone. Ladder switches one thing on at a time, from pageable memory to a pinned data set. Nothing runs by itself.":                                       "“运行”只测量左侧的设置。“阶梯”从可换页内存到整个数据集锁页，每次只打开一项。不会自动运行任何东西。",
	"New to this? The guide has six short lessons, each with settings that show what it says.":                                                                                                      "初次接触？教程有六节短课，每节都附有能演示其内容的设置。",
	"Six lessons. Each has settings that show what it says, on a simulated GPU, so that they work on every machine.":                                                                                "六节课。每节都附有在模拟 GPU 上演示其内容的设置，因此在任何机器上都能用。",
	"1. What a page-locked page is": "1. 什么是锁页", "2. Why pageable copies are staged": "2. 为什么可换页内存的拷贝要中转", "3. non_blocking without pinning": "3. 不锁页的 non_blocking",
	"4. Overlap": "4. 重叠", "5. When pinning does not pay": "5. 何时锁页不划算", "6. What pinning costs": "6. 锁页的代价",
	"Memory comes in pages, of 4 KiB mostly. The system may move a page or write it to disk while a program runs. A GPU's copy engine reads memory by itself and does not notice: it needs pages that stay where they are. Such pages are page-locked, or pinned.": "内存分为页，多为 4 KiB。程序运行时，系统可以移动一页或把它写到磁盘。GPU 的拷贝引擎自行读取内存，不会察觉：它需要位置不变的页。这样的页称为锁页内存。",
	"Compare. B fills pinned slots and A does not; the memory page shows how many bytes are pinned.":                                                                                                                                            "按“对比”。B 使用锁页槽位，A 不用；内存页显示锁定了多少字节。",
	"From pageable memory the driver cannot copy directly. It copies each piece into a pinned buffer of its own first, with the CPU, and the copy call returns only when that is done. So the bytes travel twice, and the training loop waits.": "驱动不能直接从可换页内存拷贝。它先用 CPU 把每一段拷入自己的锁页缓冲，完成后拷贝调用才返回。于是字节走了两遍，训练循环在等待。",
	"Compare, then look at the stage copy call: long for A, short for B.":                                                                                                                                                                       "按“对比”，再看“拷贝调用”阶段：A 长，B 短。",
	"non_blocking=True asks the copy to go on by itself. From pageable memory it cannot: the driver still stages the bytes before the call returns. The setting alone changes next to nothing.":                                                 "non_blocking=True 要求拷贝自行进行。从可换页内存做不到：驱动仍要在调用返回前中转字节。单独这一设置几乎不起作用。",
	"Run with pin off, and look at the stage copy call. Then choose pin direct and run again.":                                                                                                                                                  "以 pin off 运行，看“拷贝调用”阶段。再选 direct 并再次运行。",
	"A copy and a step can run at the same time if three things are there: a pinned source, a stream of its own for the copy, and a free copy engine. With one of them missing, the copy waits for the step or the step for the copy.":          "拷贝与训练步要同时进行，需要三样：锁页的来源、拷贝自己的流、空闲的拷贝引擎。缺一样，就会互相等待。",
	"Run, and look at the timeline: the copies lie under the steps. Then choose the shared copy stream and run again: copies and steps take turns.":                                                                                             "按“运行”，看时间线：拷贝与训练步重叠。再选 shared 拷贝流并再次运行：拷贝与训练步轮流进行。",
	"If loading takes longer than everything else, the GPU waits for data whatever the copies cost. Then no measurable difference is the right answer, and more workers or a faster source are what helps.":                                     "如果读取比其他一切都慢，无论拷贝代价如何，GPU 都在等数据。这时“没有可测的差别”就是正确答案，有用的是更多工作线程或更快的来源。",
	"Compare: each batch takes 20 ms to load. The interval holds 0 %.":                                                                                                                                                                          "按“对比”：每批读取需 20 ms。区间包含 0 %。",
	"Pinned pages cannot be reclaimed: they are taken from the page cache and from other programs until the run ends. Pinning takes time as well. The whole data set can be pinned, which is the fastest way and the dearest.":                  "锁定的页无法回收：直到运行结束，它们都取自页缓存和其他程序。锁页本身也要时间。可以把整个数据集锁页，这最快也最贵。",
	"Compare. The plan line says what would be pinned, of how much at most.":                                                                                                                                                                    "按“对比”。计划行说明会锁定多少、上限是多少。",
}

// chineseHints are what settings do, by flag.
var chineseHints = map[string]string{
	"source":  "样本来源：randn（逐样本正态随机）、cached（生成一次，存于内存）、npy 文件、images 文件夹（按类别分子文件夹的 JPEG 与 PNG）、tokens（int64 词元）、delay（每批的读取时间，不占 CPU）。",
	"samples": "数据集的样本数，1 到 2^63-1；对文件则为上限，0 表示全部。", "shape": "一个样本的形状，1 到 8 维；npy 文件自带形状。", "dtype": "数值类型：float32、float16、uint8、int64；npy 文件自带类型。",
	"on-bad": "遇到无法读取的文件：stop 停止运行，skip 跳过并计数。", "batch": "一批的样本数，1 到 2147483647。", "workers": "填充批的工作线程数，0 到 4096；0 表示训练循环自己读取。",
	"prefetch": "每个工作线程领先的批数，1 到 1024；没有工作线程时无意义。", "keep-workers": "各轮之间保留工作线程，不重新启动。", "epochs": "一次重复遍历数据集的轮数，1 到 1000000。",
	"shuffle": "每轮以新的随机顺序访问样本。", "seed": "顺序、数据与权重的随机种子，0 到 2^64-1。", "drop-last": "丢弃不满的最后一批。", "timeout": "工作线程超过此时间不交出批则结束运行，1ms 到 24h。",
	"pin":          "谁来锁页：off（无人）、thread（锁页线程拷贝，如 PyTorch）、direct（工作线程直接填入锁页槽位）、dataset（整个数据集锁页一次；仅 cached 与 npy）、pageable-thread（由线程拷贝但不锁页：看线程本身的作用）。",
	"non-blocking": "拷贝进行时继续执行。", "copy-stream": "拷贝所用的流：shared（与训练步共用，PyTorch 的默认）或 dedicated（独立）。",
	"host-memory": "环形缓冲的内存：pinned、registered、write-combined、mapped 或 managed；pageable（默认）表示自动选择。",
	"ring-slots":  "锁页环形缓冲的槽位数，1 到 65536；0 为自动：有锁页线程时 4 个，否则为工作线程 x 预取 + 2。", "max-pinned": "拒绝锁定超过此量的内存，如 512MiB；0：只受系统限制。",
	"risk-memory": "允许锁定超过可用内存的一半；系统可能变慢或结束程序。", "numa": "槽位与工作线程的 NUMA 节点：auto（设备所在）、off 或节点编号。",
	"device": "auto、cpu、cuda:N、sim 或 sim:型号。", "sim": "模拟 GPU 模型的数值，如 link-gbps=12,latency=6us,pageable-gbps=6,compute=12.845ms。",
	"out-features": "所训练线性层的输出数，1 到 1000000。", "learning-rate": "SGD 的学习率，0 到 1000。", "steps-per-batch": "每批的训练步数，1 到 1000000。",
	"sync-steps": "读取每一步的损失后再继续，如循环中的 loss.item()；没有工作线程时总是如此。", "repeats": "计入的重复次数，1 到 10000；95 % 区间需要 6 次。",
	"warmup": "之前的预热次数，保留在结果中但不计入，0 到 10000。", "verify": "在设备上逐字节校验每一批；此时的时间不可用。",
}
