"use strict";
const list = document.getElementById("models");
fetch("/v1/models")
  .then((answer) => answer.json())
  .then(({ models }) => {
    for (const model of models) {
      const item = document.createElement("li");
      item.textContent = `${model.name}: ${model.n_labels} labels, version ${model.version}`;
      list.append(item);
    }
  });
