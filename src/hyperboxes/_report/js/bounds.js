// Boxes with bounds in all features, as conditions.

/** The conditions of a box as pairs of feature and text; of many, those that are needed come first. */
function conditionsOf(box) {
  const conditions = [];
  report.features.forEach((feature, j) => {
    const [low, high] = boxEnds(box, j);
    const fromStart = low <= feature.least;
    const toEnd = high >= feature.most;
    if (low === null || (fromStart && toEnd)) {
      return;
    }
    if (feature.categories) {
      conditions.push([j, formatSet(j, low, high)]);
    } else if (low < high && fromStart) {
      conditions.push([j, `<= ${formatNumber(j, high)}`]);
    } else if (low < high && toEnd) {
      conditions.push([j, `>= ${formatNumber(j, low)}`]);
    } else {
      conditions.push([j, formatInterval(j, low, high)]);
    }
  });
  if (isLong(conditions, MOST_CONDITIONS)) {
    const width = ([j]) => {
      const [low, high] = boxEnds(box, j);
      return placeInRange(j, high) - placeInRange(j, low);
    };
    const needed = report.boxes.needed[box];
    const place = ([j]) => (needed.includes(j) ? needed.indexOf(j) : needed.length);
    conditions.sort((a, b) => place(a) - place(b) || width(a) - width(b));
  }
  return conditions;
}
