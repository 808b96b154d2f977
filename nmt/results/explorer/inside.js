// What happens inside the layers at the chosen step, and the positional encoding.

// The residual stream at a step: [{name, layer, stream}] after the embedding and after each sub-layer.
function streamAt(step) {
  const { state } = translation, points = [{ name: "embedded", layer: 0, stream: state.embedded[step] }];
  const names = { self: "self-attention", cross: "cross-attention", ffn: "feed-forward" };
  state.layers.forEach((trace, n) => {
    for (const [part, name] of Object.entries(names)) {
      if (trace[part][step]?.output) points.push({ name, layer: n + 1, stream: trace[part][step].stream });
    }
  });
  return points;
}

// The input of the layer normalization of a sub-layer's trace: pre-norm normalizes what enters the
// sub-layer (which `before` left), post-norm the sum of its input and output.
function normalized(trace, before) {
  const input = network.sizes.pre_norm ? before : view.what.residual ? add(trace.input, trace.output) : trace.output;
  const mean = input.reduce((sum, value) => sum + value, 0) / input.length;
  const variance = input.reduce((sum, value) => sum + (value - mean) ** 2, 0) / input.length;
  return { mean, deviation: Math.sqrt(variance) };
}

function* showInside() {
  if (!translation.steps[view.step]) {
    for (const id of ["stream", "layernorm", "fires"]) at(id).replaceChildren();
    return;
  }
  const rows = yield* perRow(streamAt(view.step), ({ name, layer, stream }) => {
    const [finished] = network.finish("decoder", [stream]);
    const [best] = likeliest(softmax(network.logits(finished)), 1);
    return [say(name, { layer }), figure(norm(stream)), `\u2068${label(best.id)}\u2069 ${percent(best.probability)}`];
  });
  at("stream").replaceChildren(table([say("after"), say("length"), say("prediction")], rows));
  const layers = translation.state.layers.map((trace, n) => ({ trace, layer: n + 1 }))
    .filter(({ trace }) => trace.ffn[view.step]); // those that are not switched off
  const line = (name, filled) => element("p", { className: "figures", textContent: say(name, filled) });
  at("layernorm").replaceChildren(...layers.map(({ trace, layer }) => {
    const { mean, deviation } = normalized(trace.ffn[view.step], trace.cross[view.step].stream);
    return line("layernorm", { layer, mean: figure(mean), deviation: figure(deviation) });
  }));
  at("fires").replaceChildren(...layers.map(({ trace, layer }) => {
    const { hidden } = trace.ffn[view.step], active = hidden.filter((value) => value > 0).length;
    const strongest = likeliest(hidden, 5).filter(({ probability }) => probability > 0).map(({ id, probability }) => `${id}: ${probability.toFixed(3)}`);
    return line("units-fire", { layer, all: hidden.length, active, list: strongest.join(", ") });
  }));
}

function showPositions() {
  const width = data.sizes.d_model, position = fieldNumber("position");
  at("dimension").max = width - 1;
  const dimension = fieldNumber("dimension"), even = 2 * (dimension >> 1), angle = position / 10000 ** (even / width);
  at("formula").textContent = say("position-formula", { function: dimension % 2 ? "cos" : "sin", position, even, width,
    angle: figure(angle), value: figure(positionalEncoding(position, width)[dimension]) });
  heatmap(at("encoding"), Array.from({ length: 40 }, (_, n) => positionalEncoding(n, width)));
}
