// How sure a translation is, as nmt/decoding/confidence.py: the chrF that is expected of it, 0 to 100.
// `estimator` is what the run's calibration has fitted.

function confidence({ weights, lengths, ratios, curve }, translation) {
  const tokens = Math.max(translation.steps.length, 1), length = Math.log(translation.source.length);
  const [shortest, longest] = lengths, [lowest, highest] = ratios, ratio = Math.log(tokens) - length;
  const signs = [
    1,
    Math.sqrt(-Math.min(translation.logProbability(), 0) / tokens),
    Math.min(Math.max(length, shortest), longest),
    Math.max(Math.min(ratio, 2 * highest - ratio), 2 * lowest - highest), // too long is as bad as too short
  ];
  const total = signs.reduce((sum, sign, n) => sum + weights[n] * sign, 0);
  return onCurve(curve, 100 / (1 + Math.exp(-total)));
}

function onCurve(curve, before) { // the curve's value, between two of its points on a line
  const above = curve.findIndex(([start]) => start > before);
  const number = Math.max(above < 0 ? curve.length - 1 : above, 1);
  const [[left, low], [right, high]] = curve.slice(number - 1, number + 1);
  return low + Math.min(Math.max((before - left) / (right - left), 0), 1) * (high - low);
}
