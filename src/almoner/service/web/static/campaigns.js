// Campaigns page: periodic updates.

import { startUpdates } from "./updates.js";

startUpdates();
