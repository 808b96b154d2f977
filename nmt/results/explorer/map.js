// The architecture as the map of the page: the blocks of the run as in blocks.py,
// with the paths between them; a block that is chosen shows the tensors that leave it.
//
// A block is chosen as {stack: 0 (encoder) | 1 (decoder), number: from the input upwards, layer, position
// (in the encoder; in the decoder, it is the step chosen in "Translate")}.

const STACKS = ["encoder", "decoder"];
const shapeText = (...sizes) => sizes.map((size) => size.toLocaleString("en")).join(" × ");
const blockTitle = (block) => block.title[language];
const blockDetail = (block) => block.detail[language];
const isSublayer = ({ kind }) => kind === "attention" || kind === "ffn";
const isSoftmax = (block) => block === data.blocks[1].at(-1);

// The blocks of a stack that stand in its layers come in pairs, a normalization and a sub-layer or the
// reverse. -> {block, number, part, norm}; part, of both: "self", "cross" or "ffn"; norm: from 1
function layeredBlocks(stack) {
  const blocks = data.blocks[stack].map((block, number) => ({ block, number })).filter(({ block }) => block.layers);
  return blocks.map((one, n) => {
    const sublayer = [one.block, blocks[n ^ 1].block].find(isSublayer);
    const part = sublayer.kind === "ffn" ? "ffn" : sublayer.keys_from_encoder ? "cross" : "self";
    return { ...one, part, norm: (n >> 1) + 1 };
  });
}

function layersOf(kind) { // the number of layers that have such an attention: "encoder", "decoder" or "cross"
  return kind === "encoder" ? data.sizes.num_layers : data.sizes.decoder_layers;
}

function crossAttention() { // the number of the block in the decoder
  return data.blocks[1].findIndex((block) => block.keys_from_encoder);
}

// ---- Drawing ----

function blockButton(block, stack, number) {
  const count = block.shared ? say("shared") : block.parameters ? block.parameters.toLocaleString("en") : "";
  const button = element("button", { type: "button", className: block.kind },
    element("span", { textContent: blockTitle(block) }), element("span", { textContent: count }),
    element("small", { textContent: blockDetail(block) }));
  Object.assign(button.dataset, { stack, number });
  button.addEventListener("click", () => {
    const layer = Math.min(view.block.layer, block.layers || Infinity);
    view.block = { ...view.block, stack, number, layer };
    followBlock();
    show(["block"]);
  });
  return button;
}

function showMap() {
  const columns = data.blocks.map((blocks, stack) => {
    const buttons = blocks.map((block, number) => blockButton(block, stack, number));
    const isLayered = (_, number) => blocks[number].layers > 0, first = blocks.findIndex(({ layers }) => layers);
    const frame = element("div", { className: "layers" }, ...buttons.filter(isLayered),
      element("small", { textContent: `${blocks[first].layers} ×` }));
    const column = element("div", { className: "stack" }, element("small", { className: "enters" }),
      ...buttons.slice(0, first), frame, ...buttons.slice(first).filter((_, n) => !isLayered(_, first + n)),
      element("small", { className: "leaves" }), element("h3", { textContent: say(STACKS[stack]) }));
    column.setAttribute("role", "group");
    column.setAttribute("aria-label", say(STACKS[stack]));
    return column;
  });
  at("architecture").replaceChildren(at("paths"), ...columns);
  sizeObserver.observe(at("architecture")); // draws the paths, now and whenever the size changes
}

// The paths of the residual stream: upwards from block to block, around each sub-layer, and from the
// output of the encoder to cross-attention.
function drawPaths() {
  const area = at("architecture").getBoundingClientRect(), paths = [], sums = [];
  const box = (one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return { left: left - area.left, right: right - area.left, top: top - area.top, bottom: bottom - area.top,
      x: (left + right) / 2 - area.left, y: (top + bottom) / 2 - area.top };
  };
  const path = (name, ...points) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    line.setAttribute("points", points.map((point) => point.join(",")).join(" "));
    line.setAttribute("class", name);
    paths.push(line);
  };
  const boxes = STACKS.map((_, stack) => [...at("architecture").querySelectorAll(`[data-stack="${stack}"]`)].map(box));
  const gap = boxes[0][0].top - boxes[0][1].bottom;
  boxes.forEach((column, stack) => {
    column.forEach(({ x, top, bottom }, n) => {
      path("flow", [x, n ? column[n - 1].top : bottom + gap], [x, bottom]);
      if (n === column.length - 1) path("flow", [x, top], [x, top - gap]);
    });
    const layered = layeredBlocks(stack);
    for (let n = 0; n < layered.length; n += 2) { // outside, around a pair, to the sum after its sub-layer
      const { block, number } = layered[n], branch = column[number].bottom + gap / 2;
      const { x, left, right, top } = column[isSublayer(block) ? number : number + 1], sum = top - 0.6 * gap;
      const side = stack ? right + 0.8 * gap : left - 0.8 * gap;
      path("residual", [x, branch], [side, branch], [side, sum], [stack ? x + 7 : x - 7, sum]);
      sums.push({ x, y: sum });
    }
  });
  const cross = boxes[1][crossAttention()];
  const { x, top } = boxes[0].at(-1), between = (boxes[0][0].right + cross.left) / 2;
  path("flow", [x, top - gap / 2], [between, top - gap / 2], [between, cross.y], [cross.left, cross.y]);
  at("paths").replaceChildren(at("arrow-head").parentNode, ...paths, ...sums.map(plus));
}

const sizeObserver = new ResizeObserver(drawPaths);

function plus({ x, y }) { // the sign of a sum on the residual stream
  const sign = document.createElementNS("http://www.w3.org/2000/svg", "path");
  sign.setAttribute("class", "sum");
  sign.setAttribute("d", `M${x - 6} ${y}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M${x - 4} ${y}h8M${x} ${y - 4}v8`);
  return sign;
}

function showSizes() { // of this sentence, where its ids enter and vectors leave
  const width = data.sizes.d_model, source = translation.encoded.ids.length, target = translation.steps.length;
  const texts = { enters: [say("map-source", { number: source }), say("map-target", { number: target })],
    leaves: [say("map-encoded", { shape: shapeText(source, width) }),
      say("map-logits", { shape: shapeText(target, data.sizes.target_vocab_size) })] };
  for (const [place, labels] of Object.entries(texts)) {
    at("architecture").querySelectorAll(`.${place}`).forEach((one, stack) => { one.textContent = labels[stack]; });
  }
}

