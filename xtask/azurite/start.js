// Azurite ends with whoever started it, however that ended: this end of the pipe closes then.
process.stdin.on("end", () => process.exit(0)).resume();
require("azurite/dist/src/azurite.js");
